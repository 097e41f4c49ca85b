"""What a session's redactor is made of, so that one of its own kind can be made in another process."""

import base64
from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct

from execkit_mcp.detectors import create_detectors
from execkit_mcp.policy.document import RedactRules, Spared
from execkit_mcp.redaction import KnownValue, Redactor


class RedactorSeed(Struct, frozen=True, kw_only=True):
    """The key of the tags, the values to protect, and what the policy says of detectors and exceptions."""

    key: bytes
    known: tuple[KnownValue, ...] = ()
    rules: RedactRules = RedactRules()

    def __repr__(self) -> str:
        return "RedactorSeed()"

    def redactor(self) -> Redactor:
        """A new redactor; raises ConfigError where a detector is not installed."""
        return Redactor(
            key=self.key,
            known=self.known,
            confirmers=create_detectors(self.rules.detectors, entropy=self.rules.entropy),
            spared=tuple(spared.value for spared in self.rules.allow),
        )

    def to_json(self) -> dict[str, object]:
        """As JSON, for a process of our own: it holds the values themselves."""
        return {
            "key": base64.b64encode(self.key).decode(),
            "known": [[each.name, each.value] for each in self.known],
            "detectors": self.rules.detectors,
            "entropy": self.rules.entropy,
            "spared": [[each.value, each.reason] for each in self.rules.allow],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """What ``to_json`` gave."""
        detectors = fields["detectors"]
        return cls(
            key=base64.b64decode(fields["key"]),
            known=tuple(KnownValue(name=name, value=value) for name, value in fields["known"]),
            rules=RedactRules(
                detectors=None if detectors is None else tuple(detectors),
                entropy=fields["entropy"],
                allow=tuple(Spared(value=value, reason=reason) for value, reason in fields["spared"]),
            ),
        )
