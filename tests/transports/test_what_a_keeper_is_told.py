"""What the keeper makes of a message whose descriptors were left out, because none was left for them (unix(7))."""

from execkit_mcp.transports.keeper import _Keeper


class Gate:
    listener = 5

    def __init__(self):
        self.told = []

    def flush(self):
        pass

    def judged(self, entries, **rest):
        self.told.append((entries, rest))


def test_a_long_command_that_it_was_not_told_of_may_run_nothing():
    gate = Gate()
    keeper = object.__new__(_Keeper)
    keeper._gate_of = {7: gate}
    keeper._tell_gate({"op": "judged", "pid": 7}, [])
    assert gate.told == [([], {"keeps": False, "exec_id": ""})]
