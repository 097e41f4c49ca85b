import time

from execkit_mcp.output import OutputChain, view
from execkit_mcp.redaction import KnownValue, Redactor

VALUE = "Qx7" + "vB2mN9kL4pR8" + "tY"


def chain(**options: int) -> OutputChain:
    return OutputChain(redactor=Redactor(key=b"k", known=[KnownValue(name="a", value=VALUE)]), **options)


def whole(one: OutputChain) -> str:
    return one.retained.read(0, 10_000_000).text


def test_bytes_become_clean_redacted_text():
    one = chain()
    one.push(b"\x1b[32m" + VALUE[:4].encode() + b"\x1b[0m" + VALUE[4:].encode() + b" \xff\r\n")
    one.settle()
    assert whole(one).startswith("[REDACTED:known:")
    assert whole(one).endswith(" \ufffd\n")
    assert one.redactions == {"known": 1}
    assert one.invalid_bytes == 1


def test_a_prompt_shows_while_the_line_is_open():
    one = chain()
    one.push(b"done\nName: ")
    assert whole(one) == "done\n"
    assert one.snapshot().read(0, 100).text == "done\nName: "
    assert whole(one) == "done\n"


def test_a_snapshot_never_shows_the_beginning_of_a_known_value():
    one = chain()
    for byte in f"x {VALUE}".encode():
        one.push(bytes([byte]))
        assert VALUE[:6] not in one.snapshot().read(0, 100).text


def test_flush_gives_out_the_open_line_and_the_stream_goes_on():
    one = chain()
    one.push(b"Password: ")
    one.flush()
    assert whole(one) == "Password: "
    one.push(b"\nok\n")
    one.settle()
    assert whole(one) == "Password: \nok\n"


def test_output_after_the_end_belongs_to_the_same_chain():
    one = chain()
    one.push(b"first")
    one.settle()
    one.push(VALUE.encode() + b" late\n")
    one.settle()
    assert whole(one).startswith("first[REDACTED:known:")
    assert one.redactions == {"known": 1}


def test_an_unterminated_sequence_is_given_up_at_the_end():
    one = chain()
    one.push(b"a\x1b]0;never")
    one.settle()
    one.push(b"next\n")
    one.settle()
    assert whole(one).endswith("next\n")


def test_a_flood_is_counted_exactly_and_kept_within_its_limit():
    one = chain(limit_bytes=100_000)
    block = b"a line of plain text of the flood\n" * 1928
    start = time.perf_counter()
    for _ in range(160):
        one.push(block)
    one.settle()
    took = time.perf_counter() - start
    assert one.retained.total_bytes == 160 * len(block)
    assert one.retained.total_lines == 160 * 1928
    _, count = view(one.retained, 1000)
    assert count is not None
    assert count.total_bytes == 160 * len(block)
    assert took < 5


def test_fifty_megabytes_without_a_line_end_stay_in_bounded_memory():
    one = chain(limit_bytes=10_000)
    for _ in range(160):
        one.push(b"x" * 65536)
    assert one._flow.redactor.held_chars < 2 << 20
    one.settle()
    assert one.retained.total_bytes == 160 * 65536
    assert one.retained.total_lines == 1
