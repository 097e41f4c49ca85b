"""Is everything as it should be: this module looks at record, state folder, disk, policies and who is kept apart."""

import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from execkit_mcp.audit.folder import HEAD_NAME, segment_numbers, verify_folder
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Fence
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.separation import separation
from execkit_mcp.runtime.targets import local_fence
from execkit_mcp.web.site import Site
from execkit_mcp.web.text import size

__all__ = ["Check", "HealthPage"]

_LOW_DISK_BYTES = 512 * 1024 * 1024


class Check(Struct, frozen=True, kw_only=True):
    """One line: ``level`` is ``good``, ``note`` or ``bad``."""

    name: str
    level: str
    text: str
    remedy: str = ""


class HealthPage:
    """``/health``."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._verified: tuple[tuple[object, ...], Check] | None = None
        self._fence: Fence | None = None
        self._lock = threading.Lock()

    def show(self, request: Request) -> Response:
        """Every check."""
        checks = list(self.checks())
        worst = next((level for level in ("bad", "note") if any(each.level == level for each in checks)), "good")
        return self._site.pages.show(request, "health.html", {"checks": checks, "worst": worst})

    def checks(self) -> Iterator[Check]:
        """Each is looked at anew; the record is read again only when it has grown."""
        yield self._record()
        yield self._folder()
        yield self._disk()
        yield from self._policies()
        for row in separation(self._site.settings, fence=self._local_fence()):
            level = "good" if row.level == "ok" else "note"
            yield Check(name=f"Agent and approver: {row.name}", level=level, text=row.text, remedy=row.remedy)
        count = self._site.logins.count()
        yield Check(name="Logins", level="good", text=f"{count} browser{'s are' if count > 1 else ' is'} logged in.")

    def _record(self) -> Check:
        folder = self._site.audit_dir
        try:
            head = (folder / HEAD_NAME).stat()
            numbers = segment_numbers(folder)
            mark: tuple[int, ...] = (head.st_mtime_ns, head.st_ino, len(numbers))
        except OSError:
            mark = (0,)
        with self._lock:
            if self._verified is None or self._verified[0] != mark:
                self._verified = (mark, self._verify())
            return self._verified[1]

    def _verify(self) -> Check:
        try:
            report = verify_folder(self._site.audit_dir, key=self._site.audit_key)
        except (ExecKitError, OSError) as error:
            return Check(name="Record", level="note", text=str(error))
        if report.problem is not None:
            return Check(
                name="Record",
                level="bad",
                text=f"The record is not whole: {report.problem}.",
                remedy="Keep the folder as evidence and run: execkit-mcp audit verify",
            )
        return Check(
            name="Record", level="good", text=f"{report.entries} entries, none altered. Head {report.last_hash[:16]}."
        )

    def _local_fence(self) -> Fence:
        """What the kernel holds here does not change while the page runs."""
        with self._lock:
            if self._fence is None:
                self._fence = local_fence(self._site.settings)
            return self._fence

    def _folder(self) -> Check:
        path = Path(self._site.settings.state_dir)
        found = path.stat()
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid != os.geteuid() or mode & 0o077:
            return Check(
                name="State folder",
                level="bad",
                text=f"{path} can be reached by others (mode {mode:04o}).",
                remedy=f"chmod 700 {path}",
            )
        return Check(name="State folder", level="good", text=f"{path} is yours alone.")

    def _disk(self) -> Check:
        left = shutil.disk_usage(self._site.settings.state_dir).free
        if left < _LOW_DISK_BYTES:
            return Check(
                name="Disk",
                level="bad",
                text=f"Only {size(left)} are left. When the record cannot be written, nothing runs.",
                remedy="Make room on the disk of the state folder.",
            )
        return Check(name="Disk", level="good", text=f"{size(left)} are left for the record.")

    def _policies(self) -> Iterator[Check]:
        settings = self._site.settings
        named = {"Policy": settings.policy} | {
            f"Policy of {target.name}": target.policy for target in settings.targets.values() if target.policy
        }
        for name, policy in named.items():
            try:
                document = load_policy(policy).document
            except ExecKitError as error:
                yield Check(name=name, level="bad", text=error.message, remedy=error.hint)
            else:
                yield Check(
                    name=name,
                    level="good",
                    text=f"{document.name} {document.digest[:12]}: {len(document.rules)} rules,"
                    f" its {len(document.tests)} tests hold.",
                )
