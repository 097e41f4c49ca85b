"""Network tools.

Sources: curl 7.88, wget 1.21, BIND 9.18 (dig, host, nslookup), iputils, iproute2 6.1, net-tools 2.10,
OpenSSH 9.2, rsync 3.2, openssl 3.0, netcat-openbsd manuals.

Over 400 lines, because it is one table with a row a flag.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import FlagUse, static
from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program, words_of

_SSH_SAFE_OPTIONS = words_of(
    "connecttimeout serveraliveinterval serveralivecountmax batchmode loglevel port user "
    "compression addressfamily numberofpasswordprompts "
    "passwordauthentication pubkeyauthentication connectionattempts tcpkeepalive requesttty"
)


def _after_curl(reading: Reading) -> None:  # noqa: C901, PLR0912 - one branch for each form in the manual
    """Only http, https and ftp reach a host that the URL names; globbing and other schemes are unknown."""
    for arg in [*reading.operands, *reading.flag_values("--url")]:
        reading.mark("u", arg)
        scheme, separator, _ = arg.prefix.lower().partition("://")
        if separator and scheme not in {"http", "https", "ftp", "ftps", "file", "ws", "wss"}:
            reading.mark("U?", None)
    if reading.has("-L", "--location-trusted"):
        reading.mark("U", None)
    for target in reading.flag_values("--connect-to"):
        parts = target.text.split(":", 2)
        if target.is_static and len(parts) == len(("host", "port", "target")) and parts[2].strip(":"):
            reading.effect(EffectKind.NET, static(parts[2].removesuffix(":")))
    for target in reading.flag_values("--resolve"):
        port, _, addresses = target.text.partition(":")[2].partition(":")
        for address in addresses.split(",") if target.is_static else ():
            host = f"[{address}]" if ":" in address and not address.startswith("[") else address
            reading.effect(EffectKind.NET, static(f"{host}:{port}"))
    for use in reading.flags:
        value = use.value
        if value is not None and {"-F", "--form"} & set(use.names):
            form = value.text.partition("=")[2]
            if not value.is_static or set(form) & {";", ","}:
                reading.effect(EffectKind.UNKNOWN, value, "a form part that may name files")
            elif form[:1] in {"@", "<"}:
                reading.effect(EffectKind.READ, static(form[1:]))
        if value is not None and {"-T", "-o"} & set(use.names) and set(value.text) & set("{[#"):
            reading.effect(EffectKind.UNKNOWN, value, "a name that curl makes from patterns")
        if value is not None and "--data-urlencode" in use.names and "@" in value.text:
            reading.effect(EffectKind.READ, static(value.text.partition("@")[2]))
        if value is not None and {"-b", "--cookie"} & set(use.names) and "=" not in value.text:
            reading.effect(EffectKind.READ, value)
        if value is not None and {"-w", "--write-out"} & set(use.names):
            if value.prefix.startswith("@") or not value.is_static:
                reading.mark("@", value)
            if "%output{" in value.text:
                reading.mark("d", None)


def _after_wget(reading: Reading) -> None:
    for arg in reading.operands:
        reading.mark("u", arg)
    if not any(
        "--max-redirect" in use.names and use.value is not None and use.value.text == "0" for use in reading.flags
    ):
        reading.mark("U", None)
    if not reading.has("-O", "--spider"):
        reading.mark("d", None)


def _after_dig(reading: Reading) -> None:
    """``@server`` is connected to; a ``+`` option and names are not."""
    servers = [arg for arg in reading.operands if arg.prefix.startswith("@")]
    for server in servers:
        reading.effect(EffectKind.NET, static(server.text[1:] + ":53") if server.is_static else server)
    if not servers:
        reading.mark("N", None)
    for arg in reading.operands:
        if not arg.is_static and not arg.prefix:
            reading.effect(EffectKind.NET, arg, "unknown")


def _read_ip(reading: Reading) -> None:  # noqa: C901 - one branch for each form in the manual
    """``ip [flags] object [verb …]``: showing is without effect, every other verb changes the network."""
    words = list(reading.args)
    while words and words[0].is_static and words[0].text.startswith("-"):
        flag = words.pop(0)
        name = "-" + flag.text.lstrip("-")
        reading.flags.append(FlagUse(names=(name,)))
        if name in {"-b", "-batch"} or (name.startswith("-b") and name not in {"-br", "-brief", "-bri", "-brie"}):
            reading.mark("s?", None)
        elif name in {"-n", "-netns"}:
            reading.unknown_flag(name)
        elif name in {"-f", "-family", "-l", "-loops", "-rc", "-rcvbuf"} and words:
            words.pop(0)
        elif name not in _IP_FLAGS:
            reading.unknown_flag(name)
    if any(not word.is_static for word in words[:2]):
        reading.dynamic(
            next(word for word in words[:2] if not word.is_static),
            "could turn out to be a verb that changes something",
        )
    reading.subcommand = tuple(word.text for word in words[:2] if word.is_static)
    reading.operands.extend(words[2:])
    thing = words[0].text if words else ""
    verb = words[1].text if len(words) > 1 else "show"
    if not words:
        return
    if thing in {"netns", "vrf"} and verb == "exec":
        reading.wrapper("runs in another network namespace")
    elif thing not in _IP_OBJECTS:
        reading.mark("s?", None)
    elif verb not in _IP_SHOWS and thing not in _IP_SHORT_SHOWS.get(verb, ()):
        reading.effect(EffectKind.STATE, static(" ".join(reading.subcommand)))


_IP_FLAGS = words_of(
    "-4 -6 -0 -B -M -I -s -stats -statistics -d -details -h -human -iec -j -json -p -pretty -o "
    "-oneline -br -brief -c -color -t -timestamp -ts "
    "-tshort -r -resolve -a -all -N -Numeric -V -Version -color=always -color=never -color=auto "
    "-echo"
)
_IP_OBJECTS = words_of(
    "a ad add addr addre addres address l li lin link r ro rou rout route ru rul rule n ne nei "
    "neig neigh neighbor neighbour maddr maddress mroute mrule netns tunnel "
    "ntable netconf tcp_metrics tcpmetrics token macsec vrf ila nexthop stats"
)
# A verb is any prefix of the first one that fits, and for a link that is `set` for `s`. Not mptcp and sr: their verb
# stands behind another word (`ip mptcp li set …` sets limits).
_IP_SHOWS = words_of("show sh sho l li lis list lst ls get ge help")
_IP_SHORT_SHOWS = {
    "s": words_of("a ad add addr addre addres address r ro rou rout route n ne nei neig neigh"),
    "g": words_of("r ro rou rout route"),
}


def _after_ssh(reading: Reading) -> None:
    """The words behind the host are joined by spaces and read by a shell there."""
    for option in reading.flag_values("-o"):
        name = option.prefix.replace(" ", "=").partition("=")[0].lower()
        if name not in _SSH_SAFE_OPTIONS:
            reading.mark("x", None)
    operands = reading.operands
    if not operands:
        return
    host, command = operands[0], operands[1:]
    if is_several(host) or host.could_be_option:
        reading.dynamic(host, "stands where the host does")
    reading.mark("n", host)
    if command and command[0].prefix[:1] in {"-", ""} and reading.terminated_at is not None:
        reading.wrapper("ssh takes options after the host too")
    if command and all(word.is_static for word in command):
        reading.runs_script(static(" ".join(word.text for word in command)))
    else:
        reading.wrapper(
            "words that are not known would run on another machine"
            if command
            else "it is an interactive shell on another machine"
        )


def _after_copy(reading: Reading) -> None:
    """For scp and rsync: ``host:path`` is elsewhere; the last operand is written, the others are read."""
    operands = reading.operands
    for index, arg in enumerate(operands):
        is_last = index == len(operands) - 1 and len(operands) > 1
        head = arg.prefix.partition("/")[0]
        if ":" in head or arg.prefix.startswith(("rsync://", "scp://", "sftp://")):
            host = arg.prefix.partition("://")[2].partition("/")[0] if "://" in arg.prefix else head.partition(":")[0]
            reading.effect(EffectKind.NET, static(host.rpartition("@")[2]), "")
        elif not arg.is_static and not arg.prefix:
            reading.effect(EffectKind.NET, arg, "unknown")
            reading.mark("d" if is_last else "R", arg)
        else:
            reading.mark("d" if is_last else "R", arg)
    if reading.has("--remove-source-files"):
        for arg in operands[:-1]:
            reading.mark("d", arg)


def _after_nc(reading: Reading) -> None:
    operands = reading.operands
    if operands:
        host = operands[0]
        port = operands[1].text if len(operands) > 1 and operands[1].is_static else ""
        reading.effect(EffectKind.NET, static(f"{host.text}:{port}" if port else host.text) if host.is_static else host)
    else:
        reading.mark("U", None)


def _after_certificate(reading: Reading) -> None:
    """A name with a scheme is an address, an engine's or a store's."""
    for value in [*reading.flag_values("-in"), *reading.operands]:
        if ":" in value.text:
            reading.mark("U?", None)


_SSH = (
    "-46AaCfGgKkMNnqsTtVvXxYy -B= -b= -c= -D=:x -E=:w -e= -F=:rx -I=:x -i=:r -J=:U -L=:x -l= -m= -O=:p "
    "-o= -p= -Q= -R=:x -S=:w -W=:U -w=:s"
)
_OPENSSL_IN = (
    "-in=:r -noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -sha256 "
    "-sha1 -pubkey -modulus -inform= -nameopt= -ext= -email -purpose -checkend= -hash "
    "-nextupdate -lastupdate -crlnumber"
)
_net = partial(Program, source="their manuals")


def _before_nslookup(reading: Reading) -> None:
    """Drop ``-option=value`` words, which merely tune the query."""
    reading.args = tuple(
        arg
        for arg in reading.args
        if not (
            arg.is_static and arg.text.startswith(("-type=", "-query=", "-timeout=", "-retry=", "-port=", "-debug"))
        )
    )


PROGRAMS = (
    _net(
        names="curl",
        flags="-s,--silent -S,--show-error -f,--fail --fail-with-body -v,--verbose -i,--include "
        "-I,--head -k,--insecure -L,--location --location-trusted "
        "-X,--request= -H,--header=:@ -A,--user-agent= -e,--referer= -u,--user= -m,--max-time= "
        "--connect-timeout= --retry= --retry-delay= "
        "--retry-max-time= --retry-connrefused --retry-all-errors --max-redirs= -o,--output=:o "
        "--output-dir=:d --create-dirs -O,--remote-name:d --remote-name-all:d "
        "-J,--remote-header-name:d "
        "-d,--data,--data-ascii=:@ --data-raw= --data-binary=:@ --data-urlencode= --json=:@ "
        "-F,--form= --form-string= -T,--upload-file=:r "
        "-K,--config=:r? -b,--cookie= -c,--cookie-jar=:w -j,--junk-session-cookies "
        "-D,--dump-header=:o --trace=:o --trace-ascii=:o --stderr=:o -w,--write-out= "
        "-x,--proxy=:u --preproxy=:u --socks5=:n --socks4=:n --socks5-hostname=:n --noproxy= "
        "-U,--proxy-user= --resolve=:U --connect-to=:U --unix-socket=:f? --abstract-unix-socket=:? "
        "--interface= --dns-servers=:U --doh-url=:u -4,--ipv4 -6,--ipv6 -G,--get -N,--no-buffer "
        "--compressed -0,--http1.0 --http1.1 --http2 --http3 --tlsv1 "
        "--tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tls-max= --ciphers= --cacert=:r --capath=:R "
        "-E,--cert=:r --key=:r --cert-type= --key-type= --pass= --pinnedpubkey= "
        "-n,--netrc:? --netrc-file=:r --netrc-optional:? -q,--disable -Q,--quote=:? -r,--range= "
        "-C,--continue-at= -R,--remote-time -z,--time-cond= -Z,--parallel --parallel-max= "
        "--limit-rate= -y,--speed-time= -Y,--speed-limit= -#,--progress-bar --no-progress-meter "
        "-g,--globoff --url= --path-as-is --keepalive-time= --no-keepalive --max-filesize= "
        "--oauth2-bearer= --basic --digest --ntlm --negotiate --anyauth --aws-sigv4= --raw "
        "--tcp-nodelay --tr-encoding -a,--append --engine=:x --etag-save=:w --etag-compare=:r "
        "--hsts=:w --alt-svc=:w --libcurl=:w --proto= --proto-default= --ssl-reqd --post301 "
        "--post302 --post303 --variable=:? --expand-url=:?  --next",
        operands="-*",
        after=_after_curl,
        alone="--help --version -V -h --manual -M",
    ),
    _net(
        names="wget",
        flags="-q,--quiet -v,--verbose --no-verbose -n= -d,--debug -S,--server-response "
        "-O,--output-document=:o -P,--directory-prefix=:d -o,--output-file=:w "
        "-a,--append-output=:w "
        "-c,--continue -N,--timestamping -r,--recursive -l,--level= --no-parent --no-clobber "
        "--no-directories --no-host-directories -t,--tries= -T,--timeout= "
        "--connect-timeout= --read-timeout= -w,--wait= --waitretry= --limit-rate= --spider "
        "--header= -U,--user-agent= --referer= --user= --password= --ask-password --use-askpass=:x "
        "-i,--input-file=:rU -e,--execute=:x --config=:rx --post-data= --post-file=:r --body-data= "
        "--body-file=:r --method= --max-redirect= --no-check-certificate --ca-certificate=:r "
        "--certificate=:r --private-key=:r --load-cookies=:r --save-cookies=:w "
        "--keep-session-cookies --content-disposition --no-proxy -4,--inet4-only -6,--inet6-only "
        "--show-progress "
        "--progress= -p,--page-requisites -k,--convert-links -E,--adjust-extension -A,--accept= "
        "-R,--reject= -D,--domains= -H,--span-hosts:U -m,--mirror --cut-dirs= "
        "-x,--force-directories "
        "-b,--background --delete-after --no-hsts --hsts-file=:w --warc-file=:d --rejected-log=:w "
        "--secure-protocol= --retry-connrefused --no-cookies --compression=",
        operands="-*",
        after=_after_wget,
        alone="--help --version -V -h",
    ),
    _net(
        names="aria2c axel http https xh httpie ftp lftp tftp w3m lynx links elinks rclone s3cmd mc-client",
        operands="-*;dxU",
    ),
    _net(
        names="dig delv",
        flags="-4 -6 -m -q= -t= -c= -p= -x= -b= -y= -f=:rU -k=:r -i -u -r -h",
        operands="-*",
        after=_after_dig,
        alone="--help -v -h",
    ),
    _net(
        names="host",
        flags="-a -C -d -l -r -s -T -U -v -V -w -4 -6 -A -i -n -c= -N= -p= -R= -t= -W= -m=",
        operands="- n;N",
        alone="-V --help",
    ),
    _net(names="nslookup", flags="", operands="- n;N", before=_before_nslookup),
    _net(
        names="chronyc",
        flags="-n -N -4 -6 -c -a -v -m:s -h=:n -p= -f=:rx",
        empty="s",
        subcommands={
            "tracking|sources|sourcestats|activity|ntpdata|authdata|rtcdata|serverstats|selectdata": "-*",
            "makestep|burst|online|offline|onoffline|add|delete|reset|refresh|rekey|shutdown|dump|cyclelogs|settime|manual|allow|deny|"
            "local|polltarget|minpoll|maxpoll|minstratum|maxdelay|trimrtc|writertc": "-*;s",
        },
        alone="--help --version",
    ),
    _net(names="whois", flags="-H -h=:n -p=", operands="-*;U"),
    _net(
        names="ping ping4 ping6",
        flags="-46aAbBCdDfHhLnOqrRUvV3 -c= -e= -F= -i= -I= -l= -m= -M= -N= -p= -Q= -s= -S= -t= -T= -w= -W=",
        operands="n*",
    ),
    _net(
        names="traceroute traceroute6 tracepath",
        flags="-46nbdIFTUre -m= -p= -w= -q= -N= -i=",
        operands="n*;U",
    ),
    _net(
        names="ss",
        flags="-V -n,--numeric -r,--resolve -a,--all -l,--listening -o,--options -e,--extended "
        "-m,--memory -p,--processes -T,--threads -i,--info --tos --cgroup -s,--summary -E,--events "
        "-Z,--context -z,--contexts -N,--net=:? -b,--bpf -4,--ipv4 -6,--ipv6 -0,--packet -t,--tcp "
        "-M,--mptcp -S,--sctp -u,--udp -d,--dccp -w,--raw -x,--unix --tipc --vsock --xdp "
        "-f,--family= -K,--kill:p -H,--no-header -O,--oneline -A,--query,--socket= -D,--diag=:o "
        "-F,--filter=:r --inet-sockopt -B,--bound-inactive -h",
        operands="-*",
    ),
    _net(
        names="netstat",
        flags="-r,--route -i,--interfaces -g,--groups -s,--statistics -M,--masquerade -v,--verbose -W,--wide "
        "-n,--numeric --numeric-hosts --numeric-ports --numeric-users -N,--symbolic "
        "-e,--extend -p,--programs -o,--timers -c,--continuous -l,--listening -a,--all -F,--fib "
        "-C,--cache -t,--tcp -u,--udp -S,--sctp -w,--raw -x,--unix -4,--inet -6,--inet6 -V -h",
        operands="",
    ),
    _net(names="ip", read=_read_ip, alone="-V -Version help -h --help"),
    _net(
        names="ifconfig",
        flags="-a -s -v",
        operands="-",
        after=lambda reading: reading.mark("s", None) if len(reading.operands) > 1 else None,
    ),
    _net(names="route arp", flags="-n -e -v -a -A= -4 -6 -N -C -F", operands="s*"),
    _net(names="iwconfig brctl nmtui wpa_cli rfkill", operands="s*;s?"),
    opaque(
        "iptables-restore arptables ebtables ifup ifdown dhclient dhcpcd wg wg-quick openvpn strongswan tailscale",
        "their manuals",
        "sx",
    ),
    opaque(
        "nc.traditional fping masscan hping3 ncat socat "
        "wireshark ngrok cloudflared chisel sshuttle autossh mosh rsh rlogin rexec sshpass ssh-agent",
        "their manuals",
        "dxU",
    ),
    _net(
        names="nc netcat nc.openbsd",
        flags="-46bCDdhklNnrStuUvz -e=:x -c=:x -I= -i= -M= -m= -O= -P= -p= -q= -s= -T= -V= -W= -w= -X= -x=:U",
        operands="-*",
        after=_after_nc,
    ),
    _net(
        names="ssh slogin",
        flags=_SSH,
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        is_remote=True,
        after=_after_ssh,
        alone="-V",
    ),
    _net(
        names="scp",
        flags="-346ABCOpqRrTv -c= -D=:x -F=:rx -i=:r -J=:U -l= -o=:x -P= -S=:x -X=",
        operands="-*",
        after=_after_copy,
    ),
    _net(names="sftp ftps", operands="-*;dxU"),
    _net(
        names="rsync",
        flags="-a,--archive -v,--verbose -q,--quiet -c,--checksum -r,--recursive -R,--relative "
        "-b,--backup --backup-dir=:d --suffix= -u,--update --inplace --append --append-verify "
        "-d,--dirs -l,--links "
        "-L,--copy-links --copy-unsafe-links --safe-links -k,--copy-dirlinks -K,--keep-dirlinks "
        "-H,--hard-links -p,--perms -E,--executability --chmod= -A,--acls -X,--xattrs -o,--owner "
        "-g,--group "
        "--devices --specials -D -t,--times -O,--omit-dir-times -J,--omit-link-times --super "
        "--fake-super -S,--sparse --preallocate -n,--dry-run -W,--whole-file -x,--one-file-system "
        "-e,--rsh=:x "
        "--rsync-path=:x --existing --ignore-existing --remove-source-files --delete --del "
        "--delete-before --delete-during --delete-delay --delete-after --delete-excluded "
        "--ignore-errors --force "
        "--max-delete= --max-size= --min-size= --partial --partial-dir=:d --delay-updates "
        "-m,--prune-empty-dirs --numeric-ids --usermap= --groupmap= --chown= --timeout= "
        "--contimeout= -I,--ignore-times "
        "--size-only -@,--modify-window= -T,--temp-dir=:d -y,--fuzzy --compare-dest=:R "
        "--copy-dest=:R --link-dest=:R -z,--compress --zc= --zl= --skip-compress= -C,--cvs-exclude "
        "-f,--filter=:? -F "
        "--exclude= --exclude-from=:r --include= --include-from=:r --files-from=:r? -0,--from0 "
        "-s,--protect-args --address= --port= --sockopts= --blocking-io --stats -8,--8-bit-output "
        "-h,--human-readable "
        "--progress -P -i,--itemize-changes -M,--remote-option=:x --out-format= --log-file=:w "
        "--log-file-format= --password-file=:r --list-only --bwlimit= --stop-after= "
        "--write-batch=:w --read-batch=:rx "
        "--protocol= --iconv= --checksum-seed= -4,--ipv4 -6,--ipv6 --info= --debug= --daemon:x "
        "--config=:rx --no-motd --mkpath",
        operands="-*",
        after=_after_copy,
    ),
    _net(
        names="ssh-keygen ssh-add ssh-copy-id ssh-keyscan sshd",
        operands="-*;dxU",
        flags="-l -f=:r -F= -t= -v -q",
    ),
    _net(
        names="openssl",
        is_long_only=True,
        alone="version help list",
        subcommands={
            "version": "-*",
            "x509|crl": Grammar(flags=_OPENSSL_IN, operands="r", after=_after_certificate),
            "dgst|sha256|sha512|sha1|md5": Grammar(
                flags="-sha256 -sha512 -sha1 -md5 -hex -binary -r -c -out=:w", operands="r*"
            ),
            "verify": Grammar(
                flags="-CAfile=:r -CApath=:R -untrusted=:r -trusted=:r -CRLfile=:r -partial_chain -verbose -purpose= "
                "-x509_strict -show_chain -no-CAfile -no-CApath -crl_check -crl_check_all -verify_hostname= -attime= "
                "-no_check_time",
                operands="f*",
                after=_after_certificate,
            ),
            "ciphers|speed": "-*",
            "rand": Grammar(flags="-hex -base64 -out=:w -rand=:r -writerand=:w", operands="-"),
            "s_client|s_time|ocsp|s_server|enc|req|ca|genrsa|genpkey|rsa|pkey|pkcs12|cms|smime|"
            "passwd|rsautl|pkeyutl|ec|ecparam|dhparam|asn1parse|ts|engine|rehash|"
            "storeutl|dsa|pkcs7|pkcs8": "-*;rdUx",
        },
    ),
)
