"""Which texts count as only reading: they may run before the disk has their record, so this is never too wide."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy.document import EffectGrants, Element, Rule

pytestmark = pytest.mark.promise("P6")

READS = """
:
true
ls -l
cat a b 2> /dev/null
find . -name x
grep -r x . | sort | head -3
date; ps aux; ss -tn
systemctl status nginx
git status
git log -3
for f in *.log; do wc -l "$f"; done
echo "$(cat a)"
awk '{ print $1 }' a
tail -f a
cat a < /dev/null > /dev/null
""".strip().splitlines()
MORE = """
echo x > a
sort -o a b
find . -delete
sed -i s/a/b/ f
tee a
date -s 12:00
hwclock -w
kill 1
systemctl restart nginx
systemctl daemon-reload
reboot
mount /dev/sda1 /mnt
dmesg -C
sysctl -w vm.swappiness=1
ip link set eth0 down
nft flush ruleset
modprobe x
journalctl --vacuum-size=1M
crontab -r
crontab a
passwd x
git fetch
git gc
git commit -m x
docker rm x
docker exec x ls
kubectl delete pod x
kubectl exec x -- ls
apt-get install x
apt-get update
make
python3 a.py
python3 -c 'print(1)'
perl -e 1
bash a.sh
sh -c ls
. a.sh
eval ls
curl http://example.com
ping -c 1 192.0.2.1
ssh host.example.com ls
psql -c 'select 1'
redis-cli set a b
hostname x
dd if=a of=b
truncate -s 0 a
chmod 600 a
ln -s a b
touch a
no-such-program
./own
awk 'BEGIN { system("ls") }'
awk '{ print > "a" }' b
cat < /dev/tcp/192.0.2.1/80
cat /dev/watchdog
cat /proc/self/root/dev/watchdog
head -c 1 < /dev/watchdog
grep -r x /dev
cat /d?v/watchdog
cat /de[v]/watchdog
cat < /d*/watchdog
xargs rm < a
env rm a
timeout 3 rm a
git log -3 --no-such-flag
ls $(bash b)
f() { rm a; }; f
(cd x && make)
ls && touch b
read a
export A=b
cd x
""".strip().splitlines()


REFRESHING = ["git diff", "git diff --stat", "git -C sub diff", "git describe --dirty", "git status; git diff"]


def everything(decide, text):
    vouched = Rule(
        id="all",
        verdict=Verdict.ALLOW,
        elements=(Element(program="*"), Element(program="./own")),
        effects=EffectGrants(is_trusted=True),
    )
    return decide(text, rules=[vouched], write=("/**",), never=())


@pytest.mark.parametrize("text", READS)
def test_reading_is_known(decide, text):
    decision = everything(decide, text)
    assert decision.verdict is Verdict.ALLOW, decision.message
    assert decision.only_reads


@pytest.mark.parametrize("text", MORE)
def test_what_does_more_never_counts_as_reading(decide, text):
    decision = everything(decide, text)
    assert not decision.only_reads
    assert decision.verdict is not Verdict.ALLOW or any(command.effects for command in decision.commands)


@pytest.mark.parametrize("text", REFRESHING)
def test_what_git_notes_in_its_index_is_written(decide, text):
    decision = everything(decide, text)
    assert decision.verdict is Verdict.ALLOW, decision.message
    assert not decision.only_reads


@pytest.mark.parametrize("verdict", ["ask", "deny"])
def test_what_does_not_run_by_itself_does_not_count(decide, verdict):
    assert not decide("ls", **{verdict: ["ls"]}).only_reads
