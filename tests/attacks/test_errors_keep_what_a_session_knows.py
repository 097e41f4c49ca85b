"""P3: an error text is redacted by what every session of the caller knows, not only by the default one's."""

import json

import pytest

pytestmark = pytest.mark.promise("P3")

# no vendor's shape: only the session that was given it under the name of a password knows that it is secret
VALUE = "orchid" + "-lantern-meadow"


@pytest.mark.parametrize("session", ["main", "two", "last"])
async def test_p3_an_error_does_not_quote_a_value_that_any_session_of_the_caller_exported(world, serve, session):
    world.policy.write_text(
        "version: 1\nname: p\n"
        'shell: {state: [export], env: {set: [DB_PASSWORD]}}\nrules:\n  - allow: [printenv, "true"]\n'
    )
    async with serve() as served:
        before = ("main", "two") if session == "last" else ()  # these know the same: nothing of that value
        for name in dict.fromkeys((*before, session)):
            if name != "main":
                await served.call("shell_open", name=name)
        told = await served.call("shell_run", command=f"export DB_PASSWORD={VALUE}", session=session, env_delta=True)
        shown = await served.call("shell_run", command="printenv DB_PASSWORD", session=session)
        assert "[REDACTED:known:" in json.dumps(shown.structured_content), told.structured_content
        answers = [
            told,
            await served.call("shell_read", exec_id=f"x-{VALUE}"),
            await served.call("shell_send", exec_id=VALUE, key="enter"),
            await served.call("shell_run", command="true", session=session, approval_id=VALUE),
            await served.call("shell_run", command="true", session=VALUE),
            await served.call("shell_close", session=VALUE),
            await served.call("shell_open", cwd=f"/nowhere/{VALUE}", name="three"),
            await served.call("shell_explain", command=f"rm {VALUE}", session=session),
            await served.call("shell_explain", command=f"rm {VALUE}"),
            await served.call("shell_info"),
        ]
    leaks = [text[:300] for answer in answers if VALUE in (text := json.dumps(answer.model_dump(mode="json")))]
    assert leaks == []
