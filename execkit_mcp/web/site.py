"""Everything that the pages read and write, in one value that is made when the command starts."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from execkit_mcp.audit.recording import recordings_folder
from execkit_mcp.config.settings import Settings
from execkit_mcp.model import Clock
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.web.logins import Logins
from execkit_mcp.web.respond import Pages
from execkit_mcp.web.tails import Tails
from execkit_mcp.web.witness import Witness

__all__ = ["Site"]


class Site(Struct, kw_only=True, eq=False):
    """One page over one state folder.

    Attributes:
        settings: what the operator set.
        logins: who is logged in.
        pages: templates and static files.
        desk: where approvals are answered.
        tails: the recordings.
        witness: what the page itself puts on the record.
        clock: the time.
        audit_key: the key of the record, if it has one.
        user: the user that the page runs as.
        is_stopping: set when the server is to end; streams end then.
    """

    settings: Settings
    logins: Logins
    pages: Pages
    desk: ApprovalDesk
    tails: Tails
    witness: Witness
    clock: Clock
    audit_key: bytes | None
    user: str
    is_stopping: bool = False

    @property
    def audit_dir(self) -> Path:
        """The folder of the record."""
        return Path(self.settings.audit_dir)

    @property
    def recordings_dir(self) -> Path:
        """The folder of the recordings."""
        return recordings_folder(self.settings.audit_dir)

    def policies(self) -> Mapping[str, str]:
        """What a person may choose from: a name for the page → what ``load_policy`` takes. Nothing else is loaded."""
        from execkit_mcp.runtime.policies import shipped_names  # noqa: PLC0415 - reads a folder

        found = {Path(self.settings.policy).name: self.settings.policy}
        for target in self.settings.targets.values():
            if target.policy is not None:
                found.setdefault(f"{Path(target.policy).name} ({target.name})", target.policy)
        for name in shipped_names():
            if name not in found.values():
                found.setdefault(name, name)
        return found
