"""What an operator may write about the webhook: the part ``approvals.webhook`` of ``config.yaml``."""

import re

from msgspec import Struct

from execkit_mcp.config.ssh_fields import FOLDER, VARIABLE
from execkit_mcp.model.shape import Broken, Field, JsonSchema, Record, Text
from execkit_mcp.model.source import Node, Place, Problems

__all__ = ["Webhook", "WebhookShape"]


class Webhook(Struct, frozen=True, kw_only=True):
    """Where questions to a person are sent, signed.

    Attributes:
        url: https, or http on this machine.
        secret_env: the server's variable that holds the signing secret.
        secret_file: or the file that does.
        answer_url: where the receiver can post answers; empty if nowhere.
        origin: where it was declared.
    """

    url: str
    secret_env: str | None = None
    secret_file: str | None = None
    answer_url: str = ""
    origin: str = ""


def _check_url(text: str) -> str:
    if re.fullmatch(r"https://[^\s@/]+(/[^\s#]*)?|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s#]*)?", text):
        return ""
    return f'"{text}" is no https address (http only on this machine, no user name in it)'


_URL = Text(what="an address", example="https://hooks.example.com/execkit", check=_check_url)


def _webhook(
    *,
    place: Place,
    url: str,
    secret_env: str | None = None,
    secret_file: str | None = None,
    answer_url: str | None = None,
) -> Webhook:
    return Webhook(
        url=url, secret_env=secret_env, secret_file=secret_file, answer_url=answer_url or "", origin=str(place)
    )


class WebhookShape:
    """The webhook: its secret is kept in a variable or in a file, not in both."""

    record: Record[Webhook] = Record(
        build=_webhook,
        what="url, secret_env, secret_file, answer_url",
        fields=(
            Field(key="url", shape=_URL, doc="Where each question is posted.", is_required=True),
            Field(key="secret_env", shape=VARIABLE, doc="The server's variable that holds the signing secret."),
            Field(key="secret_file", shape=FOLDER, doc="The file that holds the signing secret."),
            Field(key="answer_url", shape=_URL, doc="Where the receiver can post answers; told to it."),
        ),
    )

    def read(self, node: Node, problems: Problems, label: str) -> Webhook | Broken:
        """The webhook."""
        found = self.record.read(node, problems, label)
        if isinstance(found, Webhook) and (found.secret_env is None) == (found.secret_file is None):
            problems.add(node.place, f"{label}: write either secret_env or secret_file")
            return Broken.BROKEN
        return found

    def schema(self) -> JsonSchema:
        """Its record."""
        return self.record.schema()
