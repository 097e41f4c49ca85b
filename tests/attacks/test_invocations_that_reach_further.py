# ruff: noqa: E501 - a table reads one row a line
"""P2: invocations of allowed programs that reach further than the policy's reader expects, each found by attack."""

import pytest

from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
# What no shipped policy may allow unasked.
NOWHERE = [
    # git: options abbreviated, files named by options, revisions with a stage, patches through a repository's programs
    "git apply --unsafe x.patch", "git apply --dir=/etc x.patch", "git apply --build-fake-ancestor=/etc/x x.patch",
    "git cherry-pick --strat evil x", "git merge -F /etc/shadow main", "git merge --file=/etc/shadow main",
    "git add --pathspec-from-file=/etc/shadow", "git commit --pathspec-from-file=/etc/shadow -m x",
    "git checkout --pathspec-from-file=/etc/shadow", "git show :0:.env", "git show :2:.env", "git log -L1,9:.env", "git log -L :f:.env",
    "echo HEAD:.env | git cat-file --batch", "git config --blob HEAD:.env -l", "git range-diff a b c", "git status -v", "git status -vv",
    "git diff --submodule=diff", "sh -c 'git log -p'", "git help -w log", "git help --info log",
    "git add -f .env", "git commit .env -m x",
    # files that a flag names and a program prints, or takes its commands from
    "kubectl get pods -o templatefile=/etc/shadow", "kubectl get pods -o go-template-file --template /etc/shadow",
    "kubectl rollout history deploy/x -o templatefile=/etc/shadow", "kubectl get pods -o custom-columns-file=/etc/shadow",
    "sar -f /etc/shadow", "7z l a.7z @/etc/shadow", "docker compose config", "docker-compose config", "man -M /tmp ls", "lastlog -R /tmp",
    "rpm --root=/tmp -qa", "tput reset", "tput init", "journalctl --image=disk.img", "systemctl --image=disk.img list-units",
    "jq -n '\"a\" | modulemeta'", "docker top web auxe", "openssl x509 -in http://example.com/x", "openssl x509 -in org.openssl.engine:x:y",
    "echo -E rm -rf /srv | xargs cmake", 'cmake "$x" rm -rf /srv', "cmake $x",
    "cmake -E rm -rf ~", "cmake -E copy a /etc/x", "cmake -P x.cmake",
    "pidstat -e id", "sysctl kernel/../../../etc/shadow", "sysctl -n net/../../../home/dev/.ssh/id_rsa", "getconf -v ../../../tmp/x PATH",
    "kubectl get -f secret.yaml -o yaml", "kubectl describe -f secret.yaml", "echo '{\"kind\": \"Secret\"}' | kubectl get -f - -o yaml",
    "kubectl get -k overlay -o yaml", "kubectl diff -f https://example.com/x.yaml",
    # another identity, settings of every project
    "kubectl get pods --as root", "kubectl get pods --as-group=system:masters", "kubectl get pods --token x", "kubectl get pods --username=x",
    "helm list --kube-token=x", "go env -w GOFLAGS=-toolexec=./x", "go env -u GOPROXY",
]  # fmt: skip


# Where credentials lie, beyond the best known.
SECRETS = [
    "~/.claude.json", "~/.config/containers/auth.json", "/run/user/1000/containers/auth.json", "~/.dockercfg", "~/.config/glab-cli/config.yml",
    "~/.config/pip/pip.conf", "~/.config/pypoetry/auth.toml", "~/.yarnrc.yml", "~/.oci/config", "~/.s3cfg", "~/.boto", "~/.config/doctl/config.yaml",
    "~/.config/hcloud/cli.toml", "~/.config/openstack/clouds.yaml", "~/.config/argocd/config", "~/.terraformrc", "~/.cloudflared/cert.json",
    "~/.config/ngrok/ngrok.yml", "~/.kaggle/kaggle.json", "~/.cache/huggingface/token", "~/.databrickscfg", "~/.snowsql/config", "~/.thunderbird/x/logins.json",
    "~/.config/BraveSoftware/x", "~/snap/firefox/common/x", "~/.config/Signal/config.json", "~/.config/Slack/Cookies", "~/.electrum/wallets/x",
    "~/.bitcoin/wallet.dat", "~/.config/solana/id.json", "~/.pki/nssdb/key4.db", "~/.local/share/kwalletd/x", "~/.vnc/passwd", "~/.Xauthority",
    "~/.msmtprc", "~/.smbcredentials", "~/.viminfo", "~/.local/share/fish/fish_history", "/etc/mysql/debian.cnf", "/etc/postfix/sasl_passwd",
    "/etc/ppp/chap-secrets", "/etc/ipsec.secrets", "/etc/wireguard/wg0.conf", "/etc/openvpn/client.conf", "/etc/sssd/sssd.conf", "/etc/ldap.secret",
    "/etc/gitlab/gitlab-secrets.json", "/etc/ceph/ceph.client.admin.keyring", "/etc/chrony.keys", "/etc/apt/auth.conf", "/etc/apt/auth.conf.d/x",
    "/etc/vault.d/vault.hcl", "/etc/samba/smbpasswd", "/var/lib/cloud/instance/user-data.txt", "/var/lib/systemd/credential.secret",
    "/var/lib/jenkins/secrets/master.key", "/var/lib/rancher/k3s/server/node-token", "/var/lib/etcd/member/snap/db", "/dev/input/event0", "/dev/vcs1",
    "/dev/fb0", "/dev/zram0", "/dev/nbd0", "vpn/home.ovpn", "keys/site.ppk", "/home/other/.oci/config", "/root/.boto",
]  # fmt: skip


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in ("read-only", "prod-readonly", "k8s-debug", "workstation", "ci")}  # fmt: skip


@pytest.mark.parametrize("command", NOWHERE)
def test_no_shipped_policy_allows(policies, command):
    allowed = [name for name, policy in policies.items() if judge(command, policy, HERE).verdict is Verdict.ALLOW]
    assert allowed == []


@pytest.mark.parametrize("path", SECRETS)
def test_a_credential_is_read_under_no_shipped_policy(policies, path):
    verdicts = {name: judge(f"cat {path}", policy, HERE).verdict for name, policy in policies.items()}
    assert set(verdicts.values()) == {Verdict.DENY}


# Every way to an address that `network.deny` names, through the programs that prod-readonly asks about.
TO_METADATA = [
    "curl http://169.254.169.254/", "curl 'http://[::ffff:169.254.169.254]/'", "curl http://[::ffff:169.254.169.254]/",
    "curl http://[::ffff:a9fe:a9fe]/", "curl http://[64:ff9b::a9fe:a9fe]/", "curl 'http://[2002:a9fe:a9fe::]/'", "curl http://2852039166/",
    "curl --connect-to x.example.com:80:169.254.169.254:80 http://x.example.com/", "curl --connect-to ::169.254.169.254: http://x.example.com/",
    "curl --resolve x.example.com:80:169.254.169.254 http://x.example.com/", "curl --resolve +x.example.com:80:10.0.0.1,169.254.169.254 http://x.example.com/",
    "curl -x http://169.254.169.254 http://x.example.com/", "curl --socks5 169.254.169.254 http://x.example.com/",
]  # fmt: skip


@pytest.mark.parametrize("command", TO_METADATA)
def test_an_address_that_is_denied_is_denied_by_every_way(policies, command):
    decision = judge(command, policies["prod-readonly"], HERE)
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.NETWORK)


# What the same tables must let a policy that only looks do: the programs of its group, judged finely.
HONEST = [
    "less app.log", "less +G app.log", "less +/error app.log", "cat x | less -R", "bat -pp x", "bat --paging=never -l py x", "nmcli dev status",
    "nmcli con show", "ethtool eth0", "ethtool -i eth0", "iw dev", "prlimit", "prlimit --pid 1", "numactl --hardware", "sar -n DEV 1 3",
    "mpstat -P ALL 1 2", "iostat -x 1 2", "git diff --stat HEAD~1", "git log -p -- src", "git help rebase", "docker compose config --services",
    "tput cols", "7z l a.7z", "man ls", "kubectl get pods -o json", "openssl x509 -in c.crt -noout -dates",
]  # fmt: skip
# … and what it still refuses of them.
NARROW = [
    "less -o out x", "less --log-file=out x", "less -k keys x", "less --lesskey-content='x' y", "less '+!id' x", "less '+|$id' x", "less '+s out' x",
    "less ~/.ssh/id_rsa", "bat --pager=id x", "bat -d x", "bat .env", "nmcli con down x", "nmcli -s con show x", "nmcli radio wifi off",
    "ethtool -s eth0 speed 10", "ethtool -E eth0", "iw dev wlan0 set txpower fixed 1", "prlimit --pid 1 --nofile=1", "numactl -N 0 rm x",
    "prlimit --nofile=1 rm x", "sqlite3 -safe a.db 'select 1'",
]  # fmt: skip


@pytest.mark.parametrize("command", HONEST)
def test_read_only_allows_what_only_looks(policies, command):
    decision = judge(command, policies["read-only"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


@pytest.mark.parametrize("command", NARROW)
def test_read_only_refuses_what_does_more(policies, command):
    assert judge(command, policies["read-only"], HERE).verdict is not Verdict.ALLOW


# Accounts and clusters that a flag picks are granted by name alone.
PICKED = [
    ("aws ec2 describe-instances", "--profile", "aws"), ("docker ps", "--context", "docker"), ("gcloud projects list", "--project", "gcloud"),
    ("gcloud projects list", "--account", "gcloud"), ("az vm list", "--subscription", "az"), ("kubectl get pods", "--context", "kubectl"),
    ("kubectl get pods", "--as", "kubectl"), ("helm list", "--kube-context", "helm"), ("podman ps", "--connection", "podman"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "flag", "program"), PICKED)
def test_an_account_or_cluster_that_a_flag_picks_has_to_be_named_in_the_rule(tmp_path, command, flag, program):
    def verdict(conditions, text):
        path = tmp_path / "p.yaml"
        path.write_text(
            f"version: 1\nname: p\nhazards: {{ask: []}}\nrules: [{{id: r, allow: [{{{program}: {{sub: [{sub}]{conditions}}}}}]}}]\n"
        )
        path.chmod(0o600)
        return judge(text, load_policy(str(path)), HERE).verdict

    sub = " ".join(command.split()[1:])
    text = f"{program} {flag} stage {sub}"
    assert verdict("", command) is Verdict.ALLOW
    assert verdict("", text) is Verdict.DENY
    named = f', flags: {{values: {{"{flag}": [stage]}}}}'
    assert verdict(named, text) is Verdict.ALLOW
    assert verdict(named, text.replace("stage", "prod")) is Verdict.DENY
