"""A redactor made elsewhere from a session's seed hides and shows what the session's own does."""

import json
import secrets

from execkit_mcp.kit import open_kit
from execkit_mcp.policy.document import RedactRules, Spared
from execkit_mcp.redaction import KnownValue
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.redactor_seed import RedactorSeed
from execkit_mcp.runtime.request import RunRequest

TEXTS = "password = {known}\nDB_PASSWORD={shaped}\nAPI_TOKEN={spared}\nplain text\n"


def test_what_went_through_json_redacts_alike_tags_included():
    known, shaped, spared = (secrets.token_urlsafe(24) for _ in range(3))
    seed = RedactorSeed(
        key=secrets.token_bytes(32),
        known=(KnownValue(name="K", value=known),),
        rules=RedactRules(detectors=(), allow=(Spared(value=spared, reason="a test"),)),
    )
    text = TEXTS.format(known=known, shaped=shaped, spared=spared)
    expected, _ = seed.redactor().text(text)
    again, _ = RedactorSeed.from_json(json.loads(json.dumps(seed.to_json()))).redactor().text(text)
    assert again == expected
    assert (known in again, shaped in again, spared in again) == (False, False, True)
    assert known not in repr(seed)


async def test_a_value_that_a_session_protects_later_is_hidden_in_its_durable_jobs(world):
    value = "zebra" + secrets.token_hex(3) + " crossing"
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:
        await kit.run(RunRequest(command="true"), requester="a")
        kit._sessions.get("main", "a").protect("late", value)
        (world.workspace / "said").write_text(value)
        started = await kit.run(RunRequest(command="cat said; echo end", durable=True), requester="a")
        shown = await kit.read(ReadRequest(exec_id=started.exec_id, wait_s=15), requester="a")
        assert value not in shown.text
        assert "REDACTED" in shown.text
        assert shown.text.endswith("end\n")
