"""The keys of an ssh target as one table of shapes; this module is that table."""

from execkit_mcp.model.shape import Broken, Field, JsonSchema, Number, Text, describe
from execkit_mcp.model.source import Node, Problems, Scalar

__all__ = ["FOLDER", "SSH_FIELDS", "USER", "VARIABLE"]


def _check_folder(text: str) -> str:
    if text.startswith(("/", "~/")) or text == "~":
        return "" if "\0" not in text else "a path holds no NUL"
    return f'"{text}" is relative; begin with / or ~/'


FOLDER = Text(what="a folder", example="~/work", check=_check_folder)
_HOST = Text(what="a host name or address", pattern=r"[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?", example="prod-1")
USER = Text(what="a user name", pattern=r"[A-Za-z0-9_][A-Za-z0-9._-]*\$?", example="deploy")
VARIABLE = Text(what="the name of an environment variable", pattern=r"[A-Za-z_][A-Za-z0-9_]*", example="API_TOKEN")
_JUMPS = Text(what="jump hosts", pattern=r"[A-Za-z0-9_][A-Za-z0-9._:@,\[\]-]*", example="ops@bastion.example.com")


def _check_ssh_config(text: str) -> str:
    return "" if text == "none" else _check_folder(text)


_SSH_CONFIG = Text(what="a file, or none", example="~/.ssh/config", check=_check_ssh_config)


class _Flag:
    """true or false."""

    def read(self, node: Node, problems: Problems, label: str) -> bool | Broken:
        """The value."""
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        problems.add(node.place, f"{label}: expected true or false, found {describe(node)}")
        return Broken.BROKEN

    def schema(self) -> JsonSchema:
        """A boolean."""
        return {"type": "boolean"}


SSH_FIELDS: tuple[Field, ...] = (
    Field(key="host", shape=_HOST, doc="Host name or address; the target's name unless set."),
    Field(
        key="port",
        shape=Number(what="a port", low=1, high=65_535),
        doc="Port; what ssh_config says, else 22, unless set.",
    ),
    Field(key="user", shape=USER, doc="User name; what ssh_config says, else yours, unless set."),
    Field(key="identity_file", shape=FOLDER, doc="Private key; agent and the usual files unless set."),
    Field(key="certificate_file", shape=FOLDER, doc="OpenSSH certificate of that key."),
    Field(key="passphrase_env", shape=VARIABLE, doc="The server's variable that holds the key's passphrase."),
    Field(key="passphrase_file", shape=FOLDER, doc="The file whose first line is the key's passphrase."),
    Field(key="ssh_config", shape=_SSH_CONFIG, doc="The file to read instead of ~/.ssh/config; none: no file."),
    Field(key="proxy_jump", shape=_JUMPS, doc="Jump hosts, [user@]host[:port] with commas; none: no jump host."),
    Field(key="known_hosts", shape=FOLDER, doc="File of known host keys; ~/.ssh/known_hosts unless set."),
    Field(
        key="fingerprint",
        shape=Text(what="a fingerprint", pattern=r"SHA256:[A-Za-z0-9+/]{43}=?", example="SHA256:" + "A" * 43),
        doc="The host key that is accepted.",
    ),
    Field(
        key="shell",
        shape=Text(what="a shell: bash, dash, ash or zsh", pattern="bash|dash|ash|zsh", example="bash"),
        doc="What reads the commands: bash, dash, ash or zsh; the first of them that the host has unless set.",
    ),
    Field(
        key="fence",
        shape=Text(what="a fence: off, auto or process", pattern="off|auto|process", example="auto"),
        doc="What holds beneath the shell there: off (unless set), auto, or process, without which nothing is opened.",
    ),
    Field(key="insecure_accept_any_host_key", shape=_Flag(), doc="Accept any host key: nothing protects you then."),
    *(
        Field(key=key, shape=Number(what="a number of seconds", low=1, high=600, is_whole=False), doc=doc)
        for key, doc in (
            ("connect_timeout_s", "Seconds until the host must have answered; 10 unless set."),
            ("auth_timeout_s", "Seconds until it must have let us in; 20 unless set."),
            ("open_timeout_s", "Seconds until a shell must have answered; 20 unless set."),
            ("keepalive_s", "A dead link is found within twice this many seconds; 15 unless set."),
        )
    ),
)
