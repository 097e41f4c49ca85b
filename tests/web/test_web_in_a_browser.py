"""The page in headless Chromium: what a person sees, clicks and presses, with a real served session behind it.

Each test writes screenshots (``EXECKIT_SCREENSHOTS`` names the folder) for people to look at.
"""

import asyncio
import http.server
import threading

import pytest

from tests.web.page import Web

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e\u200b\x1b]0;owned\x07"
)

TOO_SMALL = """
    [...document.querySelectorAll(
        'button, .button, nav a, input:not([type=hidden], [type=checkbox], [type=range]), select'
    )].filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 36)
        .map((each) => each.outerHTML)
"""
NAMELESS = """
    [...document.querySelectorAll('button, a, input:not([type=hidden]), select, textarea')].filter(
        (each) => !(each.labels && each.labels.length) && !each.getAttribute('aria-label') && !each.textContent.trim()
    ).map((each) => each.outerHTML)
"""
LEVELS = """
    [...document.querySelectorAll('h1, h2, h3')].filter((each) => each.checkVisibility())
        .map((each) => Number(each.tagName[1]))
"""
IDS_ARE_UNIQUE = """
    new Set([...document.querySelectorAll('[id]')].map((each) => each.id)).size
        === document.querySelectorAll('[id]').length
"""


async def logged_in(page, web: Web) -> str:
    """Follow the printed link; where this login's pages are."""
    await page.open(web.link)
    return web.origin + await page.run("document.body.dataset.base")


def assert_calm(page, origin: str) -> None:
    """No error, no refused script or style, and not one request to anybody else."""
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith((origin + "/", "about:", "data:"))] == []


async def test_a_click_approves_and_the_command_runs(chromium, web, serve, world, pictures):
    running = web()
    async with chromium.page() as page, serve() as served:
        await logged_in(page, running)
        call = asyncio.create_task(served.run("touch made.txt", reason="A file is needed."))
        await page.until("document.querySelector('article.approval')")
        assert "A file is needed." in await page.run("document.querySelector('article.approval').innerText")
        assert await page.run("document.title") == "(1) Inbox · execkit"
        await page.screenshot(pictures / "inbox-one.png")
        await page.until("!document.querySelector('article.fresh')")  # what has just slid into place takes no click
        async with page.loading():
            await page.click("article.approval button[value=once]")
        assert "touch made.txt" in await page.run("document.querySelector('.flash').innerText")
        body = await call
        if body["status"] == "approval_pending":
            body = await served.run("touch made.txt", approval_id=body["approval_id"], reason="A file is needed.")
        assert body["status"] == "completed", body
        assert (world.workspace / "made.txt").exists()
        await page.until("document.querySelector('#lately .redeemed')")
        assert_calm(page, running.origin)


async def test_a_denial_reaches_the_agent_with_its_reason(chromium, web, serve, world):
    running = web()
    async with chromium.page() as page, serve() as served:
        await logged_in(page, running)
        call = asyncio.create_task(served.call("shell_run", command="touch made.txt"))
        await page.until("document.querySelector('article.approval')")
        await page.press("j")
        await page.press("d")
        await page.type("not on a Friday")
        async with page.loading():
            await page.press("Enter")
        result = await call
        if not result.is_error:
            wanted = result.structured_content["approval_id"]
            result = await served.call("shell_run", command="touch made.txt", approval_id=wanted)
        assert "not on a Friday" in result.content[0].text
        assert not (world.workspace / "made.txt").exists()
        assert_calm(page, running.origin)


async def test_output_appears_while_the_command_runs(chromium, web, serve, pictures):
    running = web()
    async with chromium.page() as page, serve() as served:
        base = await logged_in(page, running)
        await served.run("echo ready")
        await page.open(base + "/sessions")
        await page.until("document.querySelector('.tile a')")
        async with page.loading():
            await page.click(".tile a")
        call = asyncio.create_task(served.run("for i in 1 2 3 4; do echo tick $i; sleep 0.5; done; echo all done"))
        await page.until("document.querySelector('#transcript').innerText.includes('tick 2')")
        assert "all done" not in await page.run("document.querySelector('.turn:last-child .output').innerText")
        assert "running" in await page.run("document.querySelector('.turn:last-child .turn-foot').innerText")
        await call
        await page.until(
            "document.querySelector('.turn:last-child .turn-foot').innerText.includes('completed, exit 0')"
        )
        assert "all done" in await page.run("document.querySelector('#screen').innerText")
        await page.screenshot(pictures / "session-live.png")
        assert_calm(page, running.origin)


async def test_what_is_new_on_the_page_waits_for_a_button_that_is_pressed(chromium, web, serve):
    running = web()
    async with chromium.page() as page, serve() as served:
        base = await logged_in(page, running)
        await served.run("echo ready")
        await page.open(base + "/sessions")
        await page.until("document.querySelector('.tile a')")
        async with page.loading(), page.pressed(".tile a"):
            await served.run("echo more")
            await page.run("execkit.refresh()")
            await page.until("execkit.afterPress !== null")
        assert "/sessions/" in await page.run("location.pathname")


async def test_hostile_output_is_shown_and_does_nothing(chromium, web, serve, world, pictures):
    (world.workspace / "hostile.txt").write_text(HOSTILE + "\n\x1b[2J\x1b[1;1Hgone? <b>bold</b>\n\u2066isolated\n")
    running = web()
    async with chromium.page() as page, serve() as served:
        base = await logged_in(page, running)
        await served.run("cat hostile.txt")
        call = asyncio.create_task(served.run("touch '<img src=x>'", reason=HOSTILE))
        await page.until("document.querySelector('article.approval')")
        await page.screenshot(pictures / "inbox-hostile.png")
        pages = ["/inbox", "/sessions", "/search?q=script"]
        await page.open(base + "/sessions")
        pages += [path.removeprefix(base.removeprefix(running.origin)) for path in await page.run(
            "[...document.querySelectorAll('.tile a')].map((each) => each.getAttribute('href'))"
        )]  # fmt: skip
        pages.append(pages[-1].replace("/sessions/", "/replay/"))
        for path in pages:
            await page.open(base + path)
            await page.until("document.readyState === 'complete'")
            if "/replay/" in path:
                await page.until("document.getElementById('player').dataset.ready")
                await page.click("#marks li:first-child button")
                await page.until("document.getElementById('film').innerText.includes('<script>')")
            assert "owned" not in await page.run("document.title"), path
            assert (
                await page.run("document.querySelectorAll('main script, main iframe, main b > *, main pre img').length")
                == 0
            )
            assert await page.run("/[\\u001b\\u202e\\u2066\\u200b]/.test(document.body.innerText)") is False, path
        await page.screenshot(pictures / "replay-hostile.png")
        call.cancel()
        assert_calm(page, running.origin)


async def test_the_whole_inbox_works_without_a_mouse(chromium, web, submit, world):
    wanted = [submit(canonical=f"touch made-{number}.txt") for number in range(3)]
    running = web()
    async with chromium.page() as page:
        await logged_in(page, running)
        await page.press("j")
        await page.press("j")
        await page.press("k")
        first = await page.run("document.activeElement.id")
        assert first in wanted
        await page.press("a")  # pressed at once: it was not seen yet
        assert await page.run("document.querySelectorAll('article.approval').length") == 3
        await page.until("!document.querySelector('article.fresh')")
        await page.press("a", is_repeat=True)  # a key that is held down is no answer
        assert await page.run("document.querySelectorAll('article.approval').length") == 3
        async with page.loading():
            await page.press("a")
        await page.until("document.querySelectorAll('article.approval').length === 2")
        assert "Allowed, once" in await page.run("document.querySelector('.flash').innerText")
        assert await page.run("document.activeElement.matches('article.approval')")  # and goes on with the next
        await page.press("d")
        assert await page.run("document.activeElement.name") == "reason"
        await page.type("aaa")  # letters in a field are letters
        await page.press("Escape")
        assert await page.run("document.activeElement.matches('article.approval')")
        await page.press("e")
        assert await page.run("document.activeElement.name") == "text"
        await page.press("Escape")
        await page.press("?")
        assert await page.run("document.getElementById('keys').open")
        await page.press("Escape")
        await page.until("!document.getElementById('keys').open")
        assert_calm(page, running.origin)


async def test_a_card_that_somebody_else_answered_stays_where_it_was_and_does_nothing(chromium, web, submit, world):
    first = submit(canonical="touch first.txt")
    second = submit(canonical="touch second.txt")
    running = web()
    async with chromium.page() as page:
        await logged_in(page, running)
        place = f"document.getElementById('{second}').getBoundingClientRect().top"
        await page.until(place)
        before = await page.run(place)
        colleague = running.login(running.another_link())
        colleague.answer(first, "deny")
        await page.until(f"document.getElementById('{first}').inert")
        assert await page.run(place) == before
        assert await page.run("document.title") == "(1) Inbox · execkit"
        assert_calm(page, running.origin)


async def test_what_is_being_typed_survives_news(chromium, web, submit):
    first = submit(canonical="touch first.txt")
    running = web()
    async with chromium.page() as page:
        await logged_in(page, running)
        await page.press("j")
        await page.press("d")
        await page.type("because")
        second = submit(canonical="touch second.txt")
        await page.until(f"document.getElementById('{second}')")
        assert await page.run("document.activeElement.value") == "because"
        assert await page.run("document.activeElement.closest('article').id") == first


async def test_everything_fits_a_phone_and_can_be_pressed_there(chromium, web, submit, recorded, pictures):
    submit(canonical="rm -rf " + "a" * 200, agent_reason="w" * 300)
    made = recorded(session="work")
    made.ran("ls " + "b" * 200, "c" * 500 + "\n")
    running = web()
    async with chromium.page() as page:
        base = await logged_in(page, running)
        await page.show_as(width=390, height=844, phone=True)
        for path in (
            "/inbox",
            "/sessions",
            f"/sessions/{made.id}",
            f"/replay/{made.id}",
            "/search?q=c",
            "/policy?command=ls",
            "/health",
        ):
            await page.open(base + path)
            assert await page.run("document.documentElement.scrollWidth <= innerWidth"), path
            small = await page.run(TOO_SMALL)
            assert small == [], path
            await page.screenshot(pictures / f"phone{path.split('?')[0].replace('/', '-')[:16]}.png")
        assert_calm(page, running.origin)


async def test_fields_and_buttons_have_names_and_the_focus_goes_in_order(chromium, web, submit, recorded):
    submit(hazards=())
    made = recorded()
    made.ran("ls", "a\n")
    running = web()
    async with chromium.page() as page:
        base = await logged_in(page, running)
        for path in (
            "/inbox",
            "/sessions",
            f"/sessions/{made.id}",
            f"/replay/{made.id}",
            "/search",
            "/policy",
            "/health",
        ):
            await page.open(base + path)
            nameless = await page.run(NAMELESS)
            assert nameless == [], path
            levels = await page.run(LEVELS)
            assert levels[0] == 1, path
            assert levels.count(1) == 1, path
            assert await page.run(IDS_ARE_UNIQUE)
            await page.press("Tab")
            assert await page.run("document.activeElement.className") == "skip", path
            assert (
                await page.run(
                    'document.querySelectorAll(\'[tabindex]:not([tabindex="0"]):not([tabindex="-1"])\').length'
                )
                == 0
            )


async def test_light_and_dark_follow_the_person(chromium, web, submit, pictures):
    submit(canonical="systemctl restart api", agent_reason="It hangs.")
    running = web()
    async with chromium.page() as page:
        await logged_in(page, running)
        grounds = []
        for name in ("light", "dark"):
            await page.show_as(dark=name == "dark")
            grounds.append(await page.run("getComputedStyle(document.body).backgroundColor"))
            await page.screenshot(pictures / f"inbox-{name}.png")
        assert grounds == ["rgb(246, 246, 244)", "rgb(18, 21, 25)"]


async def test_the_replay_plays_jumps_and_shows_each_decision(chromium, web, recorded, pictures):
    made = recorded(session="over")
    made.ran("echo one", "first output\n")
    made.refused("rm -rf /")
    made.ran("echo two", "second output\n")
    made.close()
    running = web()
    async with chromium.page() as page:
        base = await logged_in(page, running)
        await page.open(f"{base}/replay/{made.id}")
        await page.until("document.getElementById('player').dataset.ready")
        assert await page.run("document.querySelectorAll('#timeline .mark').length") == 3
        await page.press("]")
        await page.press("]")
        await page.until("document.querySelector('#marks li.now .verdict').innerText === 'allow'")
        await page.run("document.getElementById('speed').value = '8'")
        await page.press(" ")
        await page.until("document.getElementById('film').innerText.includes('second output')")
        await page.until("document.getElementById('play').innerText === 'Play'")
        await page.click("#marks li:first-child button")
        await page.until("!document.getElementById('film').innerText.includes('second output')")
        await page.screenshot(pictures / "replay.png")
        await page.open(base + "/search?q=second")
        async with page.loading():
            await page.click(".hits a")
        await page.until("document.querySelector('#marks li.now')?.id === 'turn-3'")
        assert_calm(page, running.origin)


async def test_a_policy_is_explained_by_pressing_enter(chromium, web, pictures):
    running = web()
    async with chromium.page() as page:
        base = await logged_in(page, running)
        await page.open(base + "/policy")
        await page.run("document.getElementById('command').focus()")
        await page.type("rm -rf build")
        async with page.loading():
            await page.press("Enter")
        assert "Nothing is deleted here." in await page.run("document.querySelector('.decision').innerText")
        await page.screenshot(pictures / "policy.png")
        assert_calm(page, running.origin)


@pytest.mark.promise("P4")
async def test_a_server_on_another_port_never_gets_the_cookie(chromium, web):
    """Cookies know no ports: an agent's development server on 127.0.0.1 must not be handed the operator's login."""
    seen: list[str] = []

    class Agent(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("cookie", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>agent</title>")

        def log_message(self, *_):
            pass

    agent = http.server.HTTPServer(("127.0.0.1", 0), Agent)
    threading.Thread(target=agent.serve_forever, daemon=True).start()
    running = web()
    try:
        async with chromium.page() as page:
            await logged_in(page, running)
            for path in ("/", "/inbox", "/s/", "/s/" + "0" * 32 + "/inbox"):
                await page.open(f"http://127.0.0.1:{agent.server_port}{path}")
            await page.open(running.origin + "/")
            await page.until("document.getElementById('go-on') && !document.getElementById('go-on').hidden")
    finally:
        agent.shutdown()
        agent.server_close()
    assert len(seen) >= 4
    assert "".join(seen) == ""
