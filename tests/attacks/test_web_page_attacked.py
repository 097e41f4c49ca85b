"""The page attacked over HTTP: foreign sites and names, stolen links and cookies, guessing, hostile text everywhere."""

import asyncio
import contextlib
import html.parser
import http.client
import re
import select
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest

from execkit_mcp.approvals import Stdin
from execkit_mcp.model import HazardHit, PolicyRef, Severity
from execkit_mcp.web.guard import Guard

pytestmark = pytest.mark.promise("P4")

EVIL = "https://evil.example"
MARKUP = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></pre></textarea></title>{{7*7}}"
SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def plain(origin: str, method: str, path: str, headers: dict[str, str], body: str = "") -> http.client.HTTPResponse:
    """A request with exactly these headers."""
    connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode() if body else None)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        return answer
    finally:
        connection.close()


def state_of(submit_world, approval_id):
    from execkit_mcp.runtime.desk import ApprovalDesk

    desk = ApprovalDesk.open(state_dir=submit_world.state, audit_dir=submit_world.state)
    try:
        return desk.get(approval_id).state.value
    finally:
        desk.close()


def fields(person, approval_id) -> dict[str, str]:
    """What the card's own form would send."""
    page = person.get(f"/inbox/{approval_id}").text
    return {
        "csrf": person.csrf(),
        "digest": re.search(r'name="digest" value="([^"]+)"', page)[1],
        "answer": "once",
    }


# ── links and cookies ────────────────────────────────────────────────────────────────────────────────────────


def test_a_stolen_link_is_worth_nothing_once_it_was_used(web):
    page = web()
    page.login()
    again = page.client.get(page.link)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


def test_of_many_who_race_for_one_link_one_gets_in(web):
    page = web()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(
        plain(page.origin, "GET", page.link.removeprefix(page.origin), {"Host": "127.0.0.1"}).status
    )) for _ in range(12)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303] + [403] * 11


def test_a_browser_that_fetches_ahead_does_not_use_the_link_up(web):
    page = web()
    for header in ({"sec-purpose": "prefetch;prerender"}, {"purpose": "prefetch"}):
        assert "set-cookie" not in page.client.get(page.link, headers=header).headers
    assert "set-cookie" not in page.client.head(page.link).headers
    assert page.login().get("/inbox").status_code == 200


def test_the_cookie_stays_on_its_path_and_away_from_scripts_and_other_sites(web):
    page = web()
    cookie = page.client.get(page.link).headers["set-cookie"]
    assert re.search(r"Path=/s/[0-9a-f]{32}(;|$)", cookie)
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "domain" not in cookie.lower()


def test_neither_the_path_nor_the_cookie_opens_anything_alone(web):
    page = web()
    mine, other = page.login(), page.login(page.another_link())
    for cookie in ("", "execkit=", "execkit=" + "0" * 64, other.cookie):
        answer = page.client.get(mine.base + "/inbox", headers={"cookie": cookie} if cookie else {})
        assert answer.status_code == 401, cookie
    for path in ("/inbox", "/", "/s/" + "0" * 32 + "/inbox", mine.base + "/../../inbox"):
        assert "<article" not in page.client.get(path, headers={"cookie": mine.cookie}).text
        assert page.client.get(path, headers={"cookie": mine.cookie}).status_code in (303, 401, 404)


def test_a_cookie_thrown_in_by_another_port_neither_opens_nor_shuts_anything(web):
    person = web().login()
    thrown = person.get("/inbox", headers={"cookie": f"execkit=thrown; {person.cookie}; execkit=again"})
    assert thrown.status_code == 200


def test_every_page_needs_a_login(web, recorded):
    page = web()
    recorded().ran("ls")
    for name in ("inbox", "sessions", "search", "policy", "health", "events", "ping"):
        assert page.client.get(f"/s/{'0' * 32}/{name}").status_code == 401
        assert page.client.get(f"/{name}").status_code == 404


# ── foreign names and sites ──────────────────────────────────────────────────────────────────────────────────


FOREIGN = (
    "evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost.evil.example", "0.0.0.0", "",
    "127.0.0.1@evil",
)  # fmt: skip


def test_a_foreign_name_that_points_here_gets_nothing(web):
    page = web()
    for host in FOREIGN:
        for path in ("/", "/login", page.link.removeprefix(page.origin), "/static/page.css"):
            answer = plain(page.origin, "GET", path, {"Host": host})
            assert answer.status == 421, host
            assert "set-cookie" not in {name.lower() for name, _ in answer.getheaders()}
    assert page.login().get("/inbox").status_code == 200  # the link was not used up


@pytest.mark.parametrize(
    "begun",
    [
        "",
        "GET /login HTTP/1.1\r\nHost: {}\r\nX-Half",
        "POST /approvals/answer HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{",
    ],
)
def test_connections_that_are_held_open_lock_nobody_out(web, begun):
    page = web()
    person, where = page.login(), urlsplit(page.origin)
    held = []
    try:
        for _ in range(300):
            held.append(socket.create_connection((where.hostname, where.port), timeout=20))
            with contextlib.suppress(OSError):  # it had to make room already
                held[-1].sendall(begun.format(where.netloc).encode())
        until = time.monotonic() + 20
        while len(select.select(held, [], [], 0)[0]) < 100:  # the page keeps 200
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(0.3)
        asked = {"Host": where.netloc, "Cookie": person.cookie}
        for _ in range(5):
            assert plain(page.origin, "GET", person.base + "/inbox", asked).status == 200
    finally:
        for each in held:
            each.close()


def test_a_form_that_never_ends_is_given_up(monkeypatch):
    refused = []

    async def never():
        await asyncio.sleep(60)

    async def told(message):
        refused.append(message.get("status"))

    monkeypatch.setattr("execkit_mcp.web.guard.BODY_S", 0.01)
    scope = {
        "type": "http", "method": "POST", "path": "/approvals/answer",
        "state": {"abort": lambda: refused.append("gone")},
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }  # fmt: skip
    asyncio.run(Guard(None, logins=None, public=None, is_tls=False)(scope, never, told))
    assert (refused[0], refused[-1]) == (408, "gone")


def test_two_hosts_are_none(web):
    page = web()
    port = urlsplit(page.origin).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", "/login", skip_host=True)
    connection.putheader("Host", "127.0.0.1")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


FORGED = (
    {"origin": EVIL, "sec-fetch-site": "cross-site"},
    {"origin": EVIL, "sec-fetch-site": ""},
    {"origin": "null", "sec-fetch-site": ""},
    {"origin": "", "sec-fetch-site": ""},
    {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site"},
)


def test_a_form_of_another_site_approves_nothing(web, world, submit):
    person, wanted = web().login(), submit()
    for headers in FORGED:
        answer = person.post(f"/inbox/{wanted}", fields(person, wanted), **headers)
        assert answer.status_code == 403, headers
    assert state_of(world, wanted) == "pending"


def test_a_form_without_this_logins_token_approves_nothing(web, world, submit):
    page = web()
    person, wanted = page.login(), submit()
    for token in ("", "0" * 32, "é"):
        assert person.post(f"/inbox/{wanted}", fields(person, wanted) | {"csrf": token}).status_code == 403
    other = page.login(page.another_link())
    assert person.post(f"/inbox/{wanted}", fields(person, wanted) | {"csrf": other.csrf()}).status_code == 403
    assert state_of(world, wanted) == "pending"


def test_only_a_form_is_a_form(web, world, submit):
    person, wanted = web().login(), submit()
    body = "&".join(f"{name}={value}" for name, value in fields(person, wanted).items())
    headers = {"Host": urlsplit(person.origin).netloc, "Origin": person.origin, "Cookie": person.cookie}
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x", ""):
        told = {"Content-Type": kind} if kind else {}
        assert plain(person.origin, "POST", f"{person.base}/inbox/{wanted}", headers | told, body).status == 415
    assert state_of(world, wanted) == "pending"


def test_a_get_answers_nothing(web, world, submit):
    person, wanted = web().login(), submit()
    query = "&".join(f"{name}={value}" for name, value in fields(person, wanted).items())
    person.get(f"/inbox/{wanted}?{query}")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        headers = {"Host": urlsplit(person.origin).netloc, "Cookie": person.cookie, "Origin": person.origin}
        assert plain(person.origin, method, f"{person.base}/inbox/{wanted}?{query}", headers).status == 405
    assert state_of(world, wanted) == "pending"


def test_what_was_shown_for_one_command_approves_no_other(web, world, submit):
    person = web().login()
    harmless, other = submit(canonical="ls"), submit(canonical="rm -rf /srv")
    person.post(f"/inbox/{other}", fields(person, harmless))
    assert state_of(world, other) == "pending"
    assert "shown for something else" in person.flash()


def test_forged_ids_are_nothing(web, submit):
    person = web().login()
    submit()
    for name in ("apr_0000000000000000", "..%2f..%2fetc", "apr_x' OR 1=1 --", "%00", "é"):
        assert person.get(f"/inbox/{name}").status_code == 404
        assert person.post(f"/grants/{name}/revoke").status_code in (303, 404)


def test_no_other_site_reads_or_frames_a_page(web):
    person = web().login()
    for mode, dest in (("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe"), ("navigate", "object")):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest}
        assert person.get("/inbox", headers=headers).status_code == 403
    assert person.get("/inbox", headers={"origin": EVIL}).status_code == 403


def test_every_answer_carries_the_headers_that_hold_a_browser_back(web):
    page = web()
    person = page.login()
    answers = [
        person.get("/inbox"), person.get("/nowhere"), person.get("/inbox/apr_x"), page.client.get("/login"),
        page.client.get("/static/page.js"), page.client.get("/static/none"), page.client.get("/s/x"),
        page.client.get("/login", headers={"host": "evil.example"}), page.client.post("/login"), person.post("/inbox"),
    ]  # fmt: skip
    for answer in answers:
        for name, value in SECURITY.items():
            assert answer.headers[name] == value, (answer.url, name)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "http" not in policy
        assert "server" not in answer.headers
    assert answers[0].headers["cache-control"] == "no-store"


# ── guessing ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_guessing_the_token_is_slowed_down_and_a_link_still_works(web, tmp_path):
    token = tmp_path / "token"
    secret = "".join(f"{number:02x}" for number in range(32))
    token.write_text(secret + "\n")
    token.chmod(0o600)
    page = web("--token-file", str(token))

    def guess(code):
        return page.client.post("/login", data={"code": code}, headers={"origin": page.origin})

    assert guess(secret).status_code == 303
    statuses = [guess(f"wrong {number}").status_code for number in range(8)]
    assert statuses[:5] == [403] * 5
    assert statuses[5:] == [429] * 3
    late = guess(secret)
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) >= 1
    assert page.login(page.another_link()).get("/inbox").status_code == 200


def test_what_is_no_link_opens_nothing(web):
    page = web()
    for code in ("", "0" * 48, "../running", "x" * 10_000, "\u202e", "' OR 1=1 --"):
        assert page.client.get("/login", params={"code": code}).status_code == 403
        answer = page.client.post("/login", data={"code": code}, headers={"origin": page.origin})
        assert answer.status_code in (403, 429)
        assert "set-cookie" not in answer.headers


def test_a_form_that_is_too_large_or_malformed_is_refused(web):
    page = web()
    person = page.login()
    headers = {
        "Host": urlsplit(page.origin).netloc, "Origin": page.origin, "Cookie": person.cookie,
        "Content-Type": "application/x-www-form-urlencoded",
    }  # fmt: skip
    bodies = ("csrf=a&csrf=b", "a=" + "b" * 600_000, "&".join(f"f{n}=1" for n in range(100)), "a=%ff")
    for body in bodies:
        assert plain(page.origin, "POST", f"{person.base}/logout", headers, body).status in (400, 413)
    assert person.get("/inbox").status_code == 200


# ── hostile text ─────────────────────────────────────────────────────────────────────────────────────────────


class Tags(html.parser.HTMLParser):
    """Which tags and event attributes a page really has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.images: list[str | None] = []
        self.handlers: list[str] = []
        self.words: list[str] = []
        self._is_field = False
        self.feed(page)

    def handle_endtag(self, tag: str) -> None:
        self._is_field = self._is_field and tag != "textarea"

    def handle_data(self, data: str) -> None:
        if not self._is_field:  # what a person typed himself stands in its field as he typed it
            self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._is_field = self._is_field or tag == "textarea"
        if tag == "script":
            self.scripts.append(found.get("src"))
        if tag == "img":
            self.images.append(found.get("src"))
        self.handlers += [name for name in found if name.startswith("on") or name == "style"]


def assert_inert(page: str) -> None:
    """Nothing of ``MARKUP`` is markup here, and nothing was computed."""
    tags = Tags(page)
    assert all(source and source.startswith("/static/") for source in tags.scripts), tags.scripts
    assert all(source and source.startswith("/static/") for source in tags.images), tags.images
    assert tags.handlers == []
    assert "{{7*7}}" in page.replace("&#39;", "'")
    for hidden in ("\x1b", "\u202e", "\x00", "\x9b"):
        assert hidden not in "".join(tags.words)


HIDDEN = "\u202e\x1b]0;owned\x07\x9b31m"


def test_hostile_text_in_any_field_of_a_question_is_text(web, submit):
    bad = MARKUP + HIDDEN
    wanted = submit(
        canonical=bad, target=bad, cwd=bad, requester=bad, session=bad, run_as=bad, agent_reason=bad,
        message=bad, rule=bad,
        effects=(bad,), hazards=(HazardHit(id=bad, severity=Severity.HIGH, message=bad),), recent=(bad,),
        diff=f"--- {bad}\n+++ {bad}\n+{bad}", stdin=Stdin.of(bad), typed_into=bad,
        policy=PolicyRef(name=bad, digest=bad),
    )  # fmt: skip
    person = web().login()
    assert_inert(person.get("/inbox").text)
    person.answer(wanted, "deny", reason=bad)
    assert_inert(person.get("/inbox").text)


def test_hostile_text_in_a_recording_is_text(web, recorded):
    bad = MARKUP + HIDDEN
    made = recorded(session=bad, target=bad, requester=bad)
    made.ran(bad, f"{bad}\n", cwd=bad, rule=bad)
    made.refused(bad, reason=bad, approval=bad)
    made.ran("tty", f"\x1b[H\x1b[2J{bad}", ends=False)
    person = web().login()
    pages = [f"/sessions/{made.id}", f"/replay/{made.id}", "/search?q=alert", "/search?q=%3Cscript", "/sessions"]
    for path in pages:
        answer = person.get(path)
        assert answer.status_code == 200
        assert_inert(answer.text)
    frames = person.get(f"/replay/{made.id}/frames")
    assert frames.headers["content-type"] == "application/json"


def test_hostile_text_in_queries_and_policies_is_text(web, world):
    person = web().login()
    bad = MARKUP + HIDDEN
    for path in ("/search", "/policy"):
        page = person.get(path, params={"q": bad, "command": f"echo {bad}", "cwd": "/" + bad})
        assert_inert(page.text)
    world.policy.write_text(world.policy.read_text() + f"  - {{id: odd, deny: [odd], reason: {MARKUP!r}}}\n")
    assert_inert(person.get("/policy").text + "{{7*7}}")


def test_a_recording_that_is_no_recording_breaks_no_page(web, recorded, world):
    good = recorded()
    good.ran("ls", "a\n")
    folder = good.writer.path.parent
    broken = {
        "20260101T000000Z-a-000001.cast": b"",
        "20260101T000000Z-b-000002.cast": b"\xff\xfe not json\n",
        "20260101T000000Z-c-000003.cast": b'{"version":2,"width":1e99,"height":"x","execkit":[]}\n'
        b'[1,"o",2]\n["x"]\n{}\n[NaN,"o","a"]\n[Infinity,"o","a"]\n',
        "20260101T000000Z-d-000004.cast": b'{"version":2,"width":999999999,"height":999999999,"timestamp":1e300}\n'
        b'[1e308,"o","a"]\n[-5,"o","\\u001b[99999999;99999999H"]\n[2,"r","999999999999x99999999999"]\n'
        b'[3,"m","audit=x verdict= $ "]\n',
        "20260101T000000Z-e-000005.cast": b'{"version":2}\n' + b"[" * 100_000 + b"\n",
    }
    for name, data in broken.items():
        (folder / name).write_bytes(data)
    (folder / "20260101T000000Z-f-000006.cast").symlink_to("/etc/passwd")
    (folder / "20260101T000000Z-g-000007.cast").mkdir()
    person = web().login()
    assert good.id in person.get("/sessions").text
    for name in [*broken, "20260101T000000Z-f-000006.cast", "20260101T000000Z-g-000007.cast"]:
        for path in ("sessions", "replay", "replay/{}/frames"):
            where = f"/{path.format(name.removesuffix('.cast'))}" + (
                "" if "{}" in path else f"/{name.removesuffix('.cast')}"
            )
            answer = person.get(where)
            assert answer.status_code in (200, 404), (name, path, answer.text)
            assert "root:" not in answer.text
    assert person.get("/search?q=a").status_code == 200


ELSEWHERE = (
    "..%2f..%2f..%2fetc%2fpasswd", "../audit.head", "%2fetc%2fpasswd", "..", ".", "%00", "audit-000001.jsonl",
    "x" * 5000,
)  # fmt: skip


def test_no_name_of_a_recording_leads_out_of_its_folder(web, recorded):
    person = web().login()
    recorded().ran("ls")
    for name in ELSEWHERE:
        for path in (f"/sessions/{name}", f"/replay/{name}", f"/replay/{name}/frames", f"/events?recording={name}"):
            answer = plain(person.origin, "GET", person.base + path, {"Host": "127.0.0.1", "Cookie": person.cookie})
            assert answer.status in (404, 303), path
            assert "root:" not in answer.text
        for path in (f"/static/{name}", "/static/..%2fapp.py", "/static/%2e%2e/templates/base.html"):
            assert plain(person.origin, "GET", path, {"Host": "127.0.0.1"}).status == 404, path


# ── who may start it, and how ────────────────────────────────────────────────────────────────────────────────


def start(world, *options, **environment):
    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "web", "--port", "0", *options],
        env=world.environment(**environment), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_nobody_opens_the_page_from_inside_a_session(world):
    for options in ([], ["--link"]):
        done = start(world, *options, EXECKIT_SESSION="main")
        assert done.returncode == 3
        assert "login?code" not in done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--host", "0.0.0.0"],
        ["--host", "::"],
        ["--host", "10.1.2.3"],
        ["--host", "example.com"],
        ["--host", "0.0.0.0", "--public-url", "https://ops.example"],
        ["--host", "0.0.0.0", "--tls-cert", "cert.pem"],
        ["--public-url", "http://ops.example"],
        ["--public-url", "https://user@ops.example"],
        ["--token-file", "/dev/null"],
    ],
)
def test_the_page_does_not_open_itself_to_others_without_protection(world, options):
    done = start(world, *options)
    assert done.returncode == 2, done.stderr
    assert "login?code" not in done.stdout


@pytest.mark.parametrize(("text", "mode"), [("a" * 64, 0o600), ("short", 0o600), ("0123456789abcdef" * 4, 0o644)])
def test_a_token_that_can_be_guessed_or_read_is_refused(world, tmp_path, text, mode):
    token = tmp_path / "token"
    token.write_text(text)
    token.chmod(mode)
    assert start(world, "--token-file", str(token)).returncode == 2
