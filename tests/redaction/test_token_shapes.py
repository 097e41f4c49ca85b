# ruff: noqa: E501 - a row stands in one piece
import pytest

from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.calls import CALLS
from execkit_mcp.redaction.chosen import CHOSEN
from execkit_mcp.redaction.commands import COMMANDS
from execkit_mcp.redaction.devices import DEVICES
from execkit_mcp.redaction.names import NAMES
from execkit_mcp.redaction.shape import ALNUM, BASE64, HEX, TokenShape, assemble, fill
from execkit_mcp.redaction.shapes import SHAPES
from execkit_mcp.redaction.surroundings import PLACES
from execkit_mcp.redaction.vendors import VENDORS

REDACTOR = Redactor(key=b"k" * 32)
IDS = [f"{number}-{shape.kind}" for number, shape in enumerate(SHAPES)]


def secret(count: int = 24, seed: str = "s") -> str:
    return "k9" + assemble((fill(ALNUM, count - 4),), seed) + "4Z"


def test_the_table_has_at_least_sixty_kinds():
    assert len({shape.kind for shape in SHAPES}) >= 60


@pytest.mark.parametrize("shape", SHAPES, ids=IDS)
@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_a_token_of_each_shape_is_replaced(shape: TokenShape, seed: str):
    text = assemble(shape.example, seed)
    clean, counts = REDACTOR.text(f"before {text} after\n")
    assert counts.get(shape.kind) == 1, clean
    assert f"[REDACTED:{shape.kind}:" in clean
    assert clean.startswith("before ")
    longest = max((part.count for part in shape.example if not isinstance(part, str)), default=0)
    for part, value in zip(shape.example, _parts(shape, seed), strict=True):
        if not isinstance(part, str) and part.count == longest and longest > 6:
            assert value not in clean


def _parts(shape: TokenShape, seed: str) -> list[str]:
    out, done = [], ""
    for index in range(len(shape.example)):
        text = assemble(shape.example[: index + 1], seed)
        out.append(text[len(done) :])
        done = text
    return out


@pytest.mark.parametrize("shape", SHAPES, ids=IDS)
def test_what_only_resembles_a_shape_is_left_alone(shape: TokenShape):
    text = assemble(shape.counter_example, "a")
    assert REDACTOR.text(text + "\n") == (text + "\n", {})


@pytest.mark.parametrize(
    "row",
    [row for row in (*PLACES, *COMMANDS, *VENDORS, *CALLS, *DEVICES, *CHOSEN, *NAMES) if row.example],
    ids=lambda row: f"{row.kind}-{row.example[:20]}",
)
def test_a_secret_in_each_place_is_replaced_and_its_line_stays(row):
    value = assemble((fill(HEX, 32),)) if "{}{}" in row.example else secret()
    text = row.example.replace("{}{}{}{}", value * 2).replace("{}", value)
    clean, counts = REDACTOR.text(text)
    assert value not in clean
    assert counts == {row.kind: 1}
    before, after = row.example.replace("{}{}{}{}", "{}").split("{}")
    assert clean.startswith(before)
    assert clean.endswith(after)


@pytest.mark.parametrize(
    "row", [*PLACES, *COMMANDS, *VENDORS, *CALLS, *DEVICES, *CHOSEN, *NAMES], ids=lambda row: row.counter_example
)
def test_a_place_without_a_secret_is_left_alone(row):
    assert REDACTOR.text(row.counter_example) == (row.counter_example, {})


NEGATIVES = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "123e4567-e89b-12d3-a456-426614174000",
    "sha256:" + assemble((fill(HEX, 64),)),
    '"integrity": "sha512-' + assemble((fill(BASE64, 86),)) + '=="',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + assemble((fill(BASE64, 43),)) + " user@host",
    "SHA256:" + assemble((fill(BASE64, 43),)) + " user@host (ED25519)",
    "token = getToken()",
    "password = os.environ['DB_PASSWORD']",
    "password: ${DB_PASSWORD}",
    "PASSWORD=$DB_PASSWORD",
    "DB_PASSWORD=$(cat /run/secrets/db)",
    "api_key: <your-api-key>",
    "token: your-token-here",
    "password: ********",
    "SECRET_FILE=/run/secrets/app",
    "secretName: web-tls",
    "token_type: bearer",
    "max_tokens: 4096",
    "tokens: 1523",
    "def login(password: str, token: Optional[str] = None):",
    "Invalid password for user alice",
    "password: must be at least eight characters",
    "keyboard shortcuts: ctrl-c",
    "monkey=banana",
    "author: Alice Example",
    "the author_id=12 wrote it",
    "http://localhost:8080/path?x=1",
    "git@github.com:org/repo.git",
    "https://github.com/org/repo/blob/main/README.md",
    "drwxr-xr-x 2 root root 4096 Jan  1 00:00 secrets",
    "pk_live_" + assemble((fill(ALNUM, 24),)),
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "pass: 12, fail: 0",
    "tests passed: 100",
    "bypass=true",
    "compass=north",
    "docker run -p 8080:80 nginx",
    "ssh -p 2222 deploy@host",
    "mkdir -p /srv/app",
    "zip -r out.zip folder",
    "null password: null",
    "secret: true",
    "X-Api-Key: ${KEY}",
    "Authorization: Bearer <token>",
    "-----BEGIN CERTIFICATE-----\n" + assemble((fill(BASE64, 64),)) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + assemble((fill(BASE64, 64),)) + "\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_is_no_secret_is_left_alone(text: str):
    assert REDACTOR.text(text + "\n") == (text + "\n", {})


V = secret(20, "positive")
POSITIVES = [
    f"export DB_PASSWORD='{V}'",
    f'{{"password":"{V}"}}',
    f'{{\\"password\\":\\"{V}\\"}}',
    f"<password>{V}</password>",
    f'<add name="password" value="{V}"/>',
    f"password = {V}",
    f"  password: {V}  # comment",
    f"PGPASSWORD={V} psql -h db",
    f"tool --password {V} --verbose",
    f"tool --password={V}",
    f"tool --api-key '{V}'",
    f"tool --token {V}",
    f"mysqldump -uroot -p{V} shop",
    f"sshpass -p {V} ssh host",
    f"https://host.example.com/a?access_token={V}&x=1",
    f"Cookie: theme=dark; session={V}; lang=en",
    f"Set-Cookie: sid={V}; Path=/; HttpOnly",
    f"curl -H 'X-Api-Key: {V}' https://example.com",
    f"redis://:{V}@cache.example.com:6379/0",
    f"amqp://u:{V}@mq.example.com",
    f"_authToken={V}",
    f"machine example.com login bob password {V}",
    f"client-key-data: {V}{V}",
    f"jdbc:mysql://db.example.com/x?user=a&password={V}",
    f"Server=db;User Id=sa;Password={V};Encrypt=true",
    f"secret_key_base: {V}{V}",
    f"CREATE USER 'a'@'%' IDENTIFIED BY '{V}';",
]


@pytest.mark.parametrize("text", POSITIVES)
def test_a_secret_is_replaced_wherever_it_is_written(text: str):
    clean, counts = REDACTOR.text(text + "\n")
    assert V not in clean
    assert sum(counts.values()) == 1
    assert clean.count("[REDACTED:") == 1


def test_the_same_value_has_the_same_tag_in_one_session_and_another_in_the_next():
    line = f"password={V}\n"
    one, _ = REDACTOR.text(line * 2)
    first, second = one.splitlines()
    assert first == second
    assert Redactor(key=b"x" * 32).text(line)[0] != one.splitlines(keepends=True)[0]


def test_the_key_and_the_values_do_not_show_in_a_repr():
    from execkit_mcp.redaction import KnownValue

    assert V not in repr(KnownValue(name="a", value=V))


LONG = "Ab3/" * 1500


@pytest.mark.parametrize("text", [
    "client-key-data: {}", '"client_secret": "{}"', "password='{}'", "<password>{}</password>", '{{\\"password\\":\\"{}\\"}}',
])  # fmt: skip
def test_a_long_value_is_replaced_to_its_end(text: str):
    clean, counts = REDACTOR.text(text.format(LONG) + "\n")
    assert "Ab3" not in clean
    assert sum(counts.values()) == 1


@pytest.mark.parametrize("value", ["ab'cd9", 'ab"cd9', "ab<cd|9", "a`b9`c"])
def test_an_environment_quotes_nothing(value: str):
    assert REDACTOR.text(f"A=1\nDB_PASSWORD={value}\nB=2\n")[0].count("\n") == 3
    assert "cd" not in REDACTOR.text(f"A=1\nDB_PASSWORD={value}\nB=2\n")[0]


@pytest.mark.parametrize("text", [
    "- name: DB_PASSWORD\n  value: {}\n", '{{\n "name": "JWT_SECRET",\n "value": "{}"\n}}\n', "<key>password</key>\n<string>{}</string>\n",
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_name_on_the_line_before_gives_its_value_away(text: str, size: int):
    whole = "before: 1\n" + text.format(V) + "- name: PORT\n  value: ab12cd34ef56gh78\n"
    stream = REDACTOR.stream()
    clean = "".join(stream.push(whole[at : at + size]) for at in range(0, len(whole), size)) + stream.finish()
    assert V not in clean
    assert clean.endswith("value: ab12cd34ef56gh78\n")
    assert clean == REDACTOR.text(whole)[0]


def test_a_name_that_was_flushed_still_gives_the_next_line_away():
    stream = REDACTOR.stream()
    clean = stream.push("- name: DB_PASSWORD") + stream.flush() + stream.push(f"\n  value: {V}\n") + stream.finish()
    assert V not in clean
    assert clean.startswith("- name: DB_PASSWORD\n  value: [")


@pytest.mark.parametrize("value", ["myEfXCThJlq8t3A0sVYt", "theQ7xW2mN9pL4kJ8vB3c", "testAbC1d2E3f4G5h6J7"])
def test_a_random_value_that_starts_like_a_placeholder_is_none(value: str):
    assert value not in REDACTOR.text(f'token = "{value}"\n')[0]
