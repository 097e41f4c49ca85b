"""What the gate reads of a waiting exec is what the kernel will take, or it is an error, and never goes on for ever."""

import ctypes
import mmap
import os
import struct
import subprocess

import pytest

from execkit_mcp.fence import waiting

PAGE = 4096


@pytest.mark.promise("P2")
@pytest.mark.timeout(20)
def test_a_process_that_is_killed_while_its_words_are_read_is_an_error(monkeypatch):
    with subprocess.Popen(["sleep", "60"]) as child:

        def killed_meanwhile(tid, spans):
            child.kill()
            child.wait()
            return b"/bin/true\0".ljust(spans[0][1], b"\0") + struct.pack("Q", 16 * PAGE) * (spans[1][1] // 8)

        read = waiting._read
        monkeypatch.setattr(
            waiting, "_read", lambda tid, spans: killed_meanwhile(tid, spans) if len(spans) == 2 else read(tid, spans)
        )
        with pytest.raises((ValueError, OSError)):
            waiting.read_exec(child.pid, PAGE, 16 * PAGE)


@pytest.mark.promise("P2")
@pytest.mark.parametrize("before_the_border", range(1, 40))
@pytest.mark.parametrize("has_call", [True, False])
def test_words_whose_pointers_lie_across_a_page_border_are_read_as_they_stand(before_the_border, has_call, monkeypatch):
    monkeypatch.setattr(waiting, "_has_call", has_call)
    with mmap.mmap(-1, 4 * PAGE) as memory:
        view = (ctypes.c_char * len(memory)).from_buffer(memory)
        base = ctypes.addressof(view)
        words = [b"rm", b"-r", b"-f", b"/"]
        starts = [base + 16 * number for number in range(len(words))]
        for start, word in zip(starts, words, strict=True):
            ctypes.memmove(start, word + b"\0", len(word) + 1)
        argv_at = base + 2 * PAGE - before_the_border
        ctypes.memmove(argv_at, struct.pack(f"{len(words) + 1}Q", *starts, 0), 8 * (len(words) + 1))
        assert waiting.read_exec(os.getpid(), starts[0], argv_at) == (words[0], tuple(words))
        del view


@pytest.mark.promise("P2")
@pytest.mark.parametrize("has_call", [True, False])
@pytest.mark.parametrize("length", [0, 255, 256, 257, PAGE - 1, PAGE, 3 * PAGE + 5])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_long_words_and_many_of_them_are_read_whole(length, count, has_call, monkeypatch):
    monkeypatch.setattr(waiting, "_has_call", has_call)
    word = (b"ab" * length)[:length]
    with mmap.mmap(-1, 8 * PAGE) as memory:
        view = (ctypes.c_char * len(memory)).from_buffer(memory)
        base = ctypes.addressof(view)
        ctypes.memmove(base + 9, word + b"\0", length + 1)
        argv_at = base + 5 * PAGE + 8
        ctypes.memmove(argv_at, struct.pack(f"{count + 1}Q", *[base + 9] * count, 0), 8 * (count + 1))
        assert waiting.read_exec(os.getpid(), base + 9, argv_at) == (word, (word,) * count)
        del view


@pytest.mark.promise("P2")
def test_no_words_at_all_are_no_words():
    path = ctypes.create_string_buffer(b"/bin/true")
    assert waiting.read_exec(os.getpid(), ctypes.addressof(path), 0) == (b"/bin/true", ())


@pytest.mark.promise("P2")
def test_more_than_the_kernel_would_take_is_an_error_and_no_endless_look():
    path = ctypes.create_string_buffer(b"/bin/true")
    with mmap.mmap(-1, 2048 * PAGE) as memory:
        view = (ctypes.c_char * len(memory)).from_buffer(memory)
        base = ctypes.addressof(view)
        ctypes.memset(base, 0x41, len(memory))
        with pytest.raises((ValueError, OSError)):
            waiting.read_exec(os.getpid(), base, 0)
        with pytest.raises((ValueError, OSError)):
            waiting.read_exec(os.getpid(), ctypes.addressof(path), base)
        del view
