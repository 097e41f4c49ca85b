"""The ledger: every exec by id, its full redacted output readable until it ages out."""

from collections import OrderedDict
from itertools import islice

from execkit_mcp.errors import ExecExpired, ExecNotFound
from execkit_mcp.runtime.exec import Exec


class Ledger:
    """Execs by id; the oldest finished ones are let go when there are too many.

    Arguments:
        max_execs: how many finished execs keep their output.
    """

    def __init__(self, max_execs: int = 200) -> None:
        self._max_execs = max_execs
        self._execs: OrderedDict[str, Exec] = OrderedDict()
        self._expired: OrderedDict[str, tuple[str, dict[str, object]]] = OrderedDict()

    def add(self, exec_: Exec) -> None:
        """Enter a new exec."""
        self._execs[exec_.exec_id] = exec_
        overdue = max(len(self._execs) - self._max_execs, 0)
        finished = (each for each in self._execs.values() if not each.is_running)
        for old in tuple(islice(finished, overdue)):
            del self._execs[old.exec_id]
            counts: dict[str, object] = {
                name: {"total_bytes": chain.snapshot().total_bytes, "total_lines": chain.snapshot().total_lines}
                for name, chain in old.chains.items()
            }
            self._expired[old.exec_id] = (old.owner, {"status": old.status.value, **counts})
            while len(self._expired) > 10 * self._max_execs:
                self._expired.popitem(last=False)

    def get(self, exec_id: str, owner: str) -> Exec:
        """The exec of that id, if ``owner`` asked for it.

        Raises:
            ExecNotFound: there is none, or it is somebody else's.
            ExecExpired: its output has aged out; ``details`` has its counts.
        """
        found = self._execs.get(exec_id)
        if found is not None and found.owner == owner:
            return found
        old = self._expired.get(exec_id)
        if old is not None and old[0] == owner:
            raise ExecExpired(
                f"The output of exec {exec_id!r} has aged out.",
                hint="Run the command again, or write its output to a file.",
                details=old[1],
            )
        raise ExecNotFound(
            f"No exec {exec_id!r} is known.", hint="shell_info lists running execs; use an exec_id from a result."
        )

    def running(self, owner: str) -> tuple[Exec, ...]:
        """Execs of ``owner`` that still run."""
        return tuple(each for each in self._execs.values() if each.is_running and each.owner == owner)
