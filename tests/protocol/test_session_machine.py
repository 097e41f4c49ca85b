"""Playbooks: an event, the expected actions; time is a number."""

import re
import signal

import pytest

from execkit_mcp.protocol import actions as act
from execkit_mcp.protocol import events as ev
from execkit_mcp.protocol.dialects import bash
from execkit_mcp.protocol.ladder import LADDER
from execkit_mcp.protocol.machine import ShellMachine, State


class CountingEntropy:
    def __init__(self):
        self.count = 0

    def token_hex(self, size):
        self.count += 1
        return f"{self.count:0{2 * size}x}"

    def token_bytes(self, size):
        return bytes(size)


def one(actions, kind):
    found = [action for action in actions if isinstance(action, kind)]
    assert len(found) == 1, actions
    return found[0]


def nonce_in(data):
    return re.findall(rb"\\036([0-9a-f]{16})[RJ]", data)[-1]


def record(nonce, kind, *fields):
    return b"\x1e" + nonce + kind + b"\0" + b"\0".join(fields) + b"\0\x1d" + nonce + b"\n"


def idle_machine():
    machine = ShellMachine(CountingEntropy())
    script = one(machine.receive(ev.Opened(), 0), act.WriteScript).data
    ready = machine.receive(ev.StatusBytes(data=record(nonce_in(script), b"R", b"0", b"/w", b"")), 0)
    assert one(ready, act.MarkReady)
    return machine


def running_machine():
    machine = idle_machine()
    script = one(machine.receive(ev.RunRequested(command="true"), 1.0), act.WriteScript).data
    return machine, nonce_in(script)


def test_a_status_record_finishes_the_command():
    machine, nonce = running_machine()
    done = machine.receive(ev.StatusBytes(data=record(nonce, b"R", b"0", b"/x", b"3 0 3")), 1.5)
    completion = one(done, act.Finish).completion
    assert (completion.exit_code, completion.cwd, completion.pipe_status) == (3, "/x", (0, 3))
    assert completion.duration_ms == 500
    assert machine.state is State.IDLE


@pytest.mark.parametrize("forged", [b"ffffffffffffffff", b"0000000000000000"])
def test_a_record_without_the_nonce_never_finishes_a_command(forged):
    machine, _ = running_machine()
    assert machine.receive(ev.StatusBytes(data=record(forged, b"R", b"0", b"/x", b"")), 2) == []
    assert machine.is_busy


def test_an_interrupt_waits_until_the_command_has_begun():
    machine, _ = running_machine()
    assert machine.receive(ev.InterruptRequested(reason="timeout"), 2) == [act.Probe()]
    early = machine.receive(ev.ShellProbed(is_waiting=False, is_inside=False), 2)
    assert not [action for action in early if isinstance(action, act.SignalForeground)]
    assert machine.receive(ev.TimerFired(), 2) == [act.Probe()]
    begun = machine.receive(ev.ShellProbed(is_waiting=False, is_inside=True), 2)
    assert one(begun, act.SignalForeground).number is signal.SIGINT


def test_the_ladder_is_climbed_rung_by_rung_and_ends_with_the_shell():
    machine, _ = running_machine()
    machine.receive(ev.InterruptRequested(reason="timeout"), 2)
    actions = machine.receive(ev.ShellProbed(is_waiting=False, is_inside=True), 2)
    for rung in LADDER:
        kind = act.SignalShell if rung.is_for_shell else act.SignalForeground
        assert one(actions, kind).number is rung.number
        assert one(actions, act.ArmTimer).seconds == rung.grace_s
        actions = machine.receive(ev.TimerFired(), 3)
    assert one(machine.receive(ev.ShellExited(code=-9), 4), act.Respawn)
    script = one(machine.receive(ev.Opened(), 4), act.WriteScript).data
    done = machine.receive(ev.StatusBytes(data=record(nonce_in(script), b"R", b"0", b"/", b"")), 5)
    completion = one(done, act.Finish).completion
    assert completion.exit_code is None
    assert completion.is_timed_out
    assert completion.is_shell_replaced
    assert not completion.is_state_restored
    assert "state is lost" in completion.warnings[0]


def test_a_shell_that_does_not_answer_after_an_interrupt_waits_for_a_command_that_goes_on():
    machine, nonce = running_machine()
    machine.receive(ev.InterruptRequested(reason="cancelled"), 2)
    machine.receive(ev.ShellProbed(is_waiting=False, is_inside=True), 2)
    machine.receive(ev.StatusBytes(data=record(nonce, b"R", b"130", b"/", b"")), 3)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        insisting = one(machine.receive(ev.TimerFired(), 3), act.SignalForeground)
        assert (insisting.number, insisting.spares_shell) == (number, True)
    assert one(machine.receive(ev.TimerFired(), 4), act.Finish).completion.exit_code == 130


def test_an_interrupted_command_is_swept_but_its_own_jobs_are_spared():
    machine, nonce = running_machine()
    machine.receive(ev.InterruptRequested(reason="cancelled"), 2)
    machine.receive(ev.ShellProbed(is_waiting=False, is_inside=True), 2)
    asked = machine.receive(ev.StatusBytes(data=record(nonce, b"R", b"0", b"/", b"130 130")), 2)
    question = nonce_in(one(asked, act.WriteScript).data)
    done = machine.receive(ev.StatusBytes(data=record(question, b"J", b"41\n42\n", b"")), 2)
    assert one(done, act.EndStrays).spared == {41, 42}
    completion = one(done, act.Finish).completion
    assert (completion.exit_code, completion.signal, completion.is_cancelled) == (130, "SIGINT", True)


def test_a_shell_that_waits_without_a_status_is_repaired_once_and_then_replaced():
    machine, _ = running_machine()
    wait = ev.ShellProbed(is_waiting=True, is_inside=False)
    machine.receive(wait, 1)
    assert b"POSIXLY_CORRECT" in one(machine.receive(wait, 1), act.WriteScript).data
    machine.receive(wait, 2)
    assert one(machine.receive(wait, 2), act.SignalShell).number is signal.SIGKILL


def test_a_lost_channel_finishes_the_command_as_lost():
    machine, _ = running_machine()
    completion = one(machine.receive(ev.ChannelLost(), 2), act.Finish).completion
    assert completion.is_lost
    assert completion.exit_code is None
    assert machine.state is State.LOST


def test_a_shell_that_keeps_dying_is_given_up():
    machine, _ = running_machine()
    for _ in range(3):
        assert one(machine.receive(ev.ShellExited(code=1), 2), act.Respawn)
        machine.receive(ev.Opened(), 2)
    done = machine.receive(ev.ShellExited(code=1), 2)
    assert one(done, act.Finish).completion.is_lost


@pytest.mark.parametrize("state", list(State))
def test_every_state_answers_every_event(state):
    for event in (
        ev.ShellStopped(),
        ev.ShellProbed(is_waiting=True, is_inside=True),
        ev.StatusBytes(data=b"\x1e\0garbage\n"),
        ev.InterruptRequested(reason="timeout"),
        ev.ChannelLost(),
    ):
        machine = idle_machine()
        machine.state = state
        assert isinstance(machine.receive(event, 0), list)


@pytest.mark.parametrize(("codes", "is_unhidden"), [(b"0 0", False), (b"", True)])
def test_a_record_without_codes_is_followed_by_the_removal_of_what_hid_the_braces(codes, is_unhidden):
    machine, nonce = running_machine()
    done = machine.receive(ev.StatusBytes(data=record(nonce, b"R", b"2", b"/w", codes)), 2)
    assert [action.data for action in done if isinstance(action, act.WriteScript)] == [bash.unhide()] * is_unhidden
    assert one(done, act.Finish).completion.exit_code == (2 if is_unhidden else 0)


def test_no_line_of_ours_begins_a_command_with_a_word_that_an_alias_could_have():
    """Outside quotes; the braces at the end of line one are the known exception, inside its quotes."""
    nonce = "0" * 16
    lines = [
        bash.line_one("x", last_code=3, outputs=("/a", "/b")),
        bash.line_one("x", is_tty=True),
        bash.line_two(nonce).encode(),
        bash.query(nonce),
        bash.take_snapshot(nonce),
        bash.rewrap(nonce, None),
        bash.unhide(),
    ]
    for line in lines:
        bare = re.sub(rb"'(?:[^']|'\\'')*'|\"[^\"]*\"", b"Q", line)
        for command in re.split(rb"\n|;|\|\||&&", bare):
            assert re.match(rb"\s*(\\[a-z]|\w+=Q|$)", command), line
