"""Every page over HTTP, from the real command: what a person is shown, and what his answers do."""

import html
import json
import re
import subprocess
import sys
import time

import pytest

from execkit_mcp.runtime.desk import ApprovalDesk

PAGES = ("inbox", "sessions", "search", "policy", "health")


def desk_of(world) -> ApprovalDesk:
    return ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)


def approval(world, approval_id):
    desk = desk_of(world)
    try:
        return desk.get(approval_id)
    finally:
        desk.close()


def test_the_printed_link_leads_to_the_inbox(web):
    person = web().login()
    page = person.get("/inbox")
    assert page.status_code == 200
    assert "Nothing waits for you" in page.text
    assert re.fullmatch(r"/s/[0-9a-f]{32}", person.base)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("inbox", "Nothing waits for you"),
        ("sessions", "No session was recorded yet"),
        ("search", "Search"),
        ("policy", "What would be decided"),
        ("health", "Agent and approver"),
    ],
)
def test_every_page_is_of_use_before_anything_has_happened(web, name, words):
    page = web().login().get(f"/{name}")
    assert page.status_code == 200
    assert words in page.text
    assert '<html lang="en">' in page.text
    assert page.text.count("<h1>") == 1
    assert f'href="{page.url.path}" aria-current="page"' in page.text


def test_a_yes_over_the_page_lets_the_command_run_once(web, world, submit):
    wanted = submit(canonical="touch made.txt")
    told = web().login().answer(wanted, "once")
    assert told == "Allowed, once: touch made.txt"
    found = approval(world, wanted)
    assert (found.state, found.decided_by) == ("approved", "web")
    assert re.search(r"\(web [0-9a-f]{8}\)", found.decided_who)


def test_a_no_carries_its_reason(web, world, submit):
    wanted = submit()
    assert web().login().answer(wanted, "deny", reason="not on a Friday") == "Denied: touch made.txt"
    assert (approval(world, wanted).state, approval(world, wanted).reason) == ("denied", "not on a Friday")


def test_a_yes_for_the_session_and_one_for_a_time_are_listed_and_taken_back(web, world, submit):
    person = web().login()
    session = {"session": "main", "session_key": "k1"}
    person.answer(submit(**session), "session")
    person.answer(submit(canonical="mkdir made", **session), "until", minutes="15")
    page = person.get("/inbox").text
    assert "What you have allowed for longer" in page
    grants = re.findall(r'/grants/(grt_[0-9a-f]+)/revoke"', page)
    assert len(grants) == 2
    for grant in grants:
        assert person.post(f"/grants/{grant}/revoke").status_code == 303
    assert "What you have allowed for longer" not in person.get("/inbox").text


def test_a_changed_command_is_kept_as_it_was_typed(web, world, submit):
    wanted = submit(canonical="rm -rf build")
    web().login().answer(wanted, "edit", text="rm -r build/tmp\r\n")
    assert approval(world, wanted).edited.strip() == "rm -r build/tmp"


def test_the_second_answer_is_told_who_was_faster(web, submit):
    person = web().login()
    wanted = submit()
    person.answer(wanted, "once")
    told = person.answer(wanted, "once")
    assert "shown for something else" in told or "already" in told


def test_answers_and_logins_are_on_the_record(web, world, submit):
    person = web().login()
    person.answer(submit(), "once")
    person.post("/logout")
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "audit", "show", "--json"],
        env=world.environment(), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert [kind for kind in kinds if kind.startswith(("web.", "approval."))] == [
        "web.login", "approval.decided", "web.logout",
    ]  # fmt: skip


def test_a_card_shows_all_that_an_answer_needs(web, submit):
    submit(
        canonical="tee app.yaml", run_as="deploy", effects=("write(/srv/app.yaml)",), message="Rule writes asks.",
        rule="writes",
        agent_reason="The queue is slow.", recent=("✓ cat app.yaml",), diff="--- a\n+++ b\n-workers: 4\n+workers: 16",
        session="main",
    )  # fmt: skip
    page = web().login().get("/inbox").text
    for part in (
        "tee app.yaml", "deploy", "write(/srv/app.yaml)", "Rule writes asks.", "nobody has checked it",
        "The queue is slow.",
        "cat app.yaml", '<span class="add">+workers: 16</span>', "counts as denied in",
    ):  # fmt: skip
        assert part in page, part


def test_the_title_says_how_many_wait(web, submit):
    person = web().login()
    submit()
    submit(canonical="mkdir made")
    assert "<title>(2) Inbox" in person.get("/inbox").text


def test_a_thousand_questions_do_not_make_the_page_slow(web, submit, world):
    desk = desk_of(world)
    from tests.web.page import request

    for number in range(45):
        desk.queue.submit(request(canonical=f"touch made-{number}.txt", requester=f"client {number % 9}"))
    desk.close()
    person = web().login()
    person.get("/inbox")
    start = time.perf_counter()
    assert person.get("/inbox").text.count("<article") == 45
    assert time.perf_counter() - start < 2


def test_the_policy_is_explained_without_running_anything(web, world):
    person = web().login()
    page = person.get("/policy", params={"command": "rm -rf made; touch x", "cwd": str(world.workspace)}).text
    assert '<span class="verdict deny">deny</span>' in page
    assert "Nothing is deleted here." in page
    assert not (world.workspace / "x").exists()
    assert '<span class="verdict allow">allow</span>' in person.get("/policy", params={"command": "ls"}).text


def test_a_policy_that_does_not_load_says_where(web, world):
    person = web().login()
    world.policy.write_text("version: 1\nname: test\nrulez: []\n")
    assert "policy.yaml:3:1" in person.get("/policy").text
    assert "Something needs you." in person.get("/health").text


@pytest.mark.parametrize("query", ["policy=/etc/passwd", "policy=../../etc/passwd", "cwd=relative&command=ls"])
def test_what_cannot_be_explained_is_said_and_nothing_is_read(web, query):
    page = web().login().get(f"/policy?{query}")
    assert page.status_code in (400, 404)
    assert "root:" not in page.text


def test_an_open_session_is_shown_with_its_transcript_and_screen(web, recorded):
    live = recorded(session="work")
    live.ran("ls", "a.txt\nb.txt\n")
    live.refused("rm -rf /")
    live.ran("sleep 9", ends=False)
    person = web().login()
    page = person.get("/sessions").text
    assert "Open now" in page
    assert "sleep 9" in page
    page = person.get(f"/sessions/{live.id}").text
    assert '<pre class="output">a.txt\nb.txt</pre>' in page
    assert "/srv$ ls" in page
    assert "did not run" in page
    assert '<span class="running">running</span>' in page


def test_a_session_that_is_over_can_be_replayed(web, recorded):
    done = recorded(session="over")
    done.ran("ls", "a.txt\n")
    done.event("o", "late\r\n", after_s=3600)
    done.refused("rm -rf /")
    done.close()
    person = web().login()
    assert f"/replay/{done.id}" in person.get("/sessions").text
    page = person.get(f"/replay/{done.id}").text
    assert "without the waiting" in page
    assert page.count('class="mark ') == 2
    first = person.get(f"/replay/{done.id}/frames", params={"from": "0"}).json()
    rows = {}
    for frame in first["frames"]:
        rows |= frame["rows"]
    assert "a.txt" in rows.values()
    assert first["next"] is None


@pytest.mark.parametrize("start", ["-1", "nan", "inf", "x", "1e999"])
def test_frames_from_no_time_are_refused(web, recorded, start):
    done = recorded()
    done.ran("ls", "a\n")
    assert web().login().get(f"/replay/{done.id}/frames", params={"from": start}).status_code == 400


def test_commands_and_output_are_found_again(web, recorded):
    done = recorded(session="over")
    done.ran("make build", "compiling\nerror: WIDGET is not defined\n")
    done.ran("ls", "nothing here\n")
    person = web().login()
    page = person.get("/search", params={"q": "widget"}).text
    assert "1 command in 1 recording" in page
    assert '<mark class="found">WIDGET</mark>' in page
    assert f'href="{person.base}/replay/{done.id}#turn-1"' in page
    assert "Nothing found" in person.get("/search", params={"q": "absent"}).text
    assert "1 command in" in person.get("/search", params={"q": "make b"}).text


def test_decisions_are_on_the_search_page_without_asking(web, world):
    subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "run", "--policy", str(world.policy), "--", "rm -rf gone"],
        env=world.environment(), cwd=world.workspace, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    person = web().login()
    assert "rm -rf gone" in person.get("/search").text
    found = 'rm -rf <mark class="found">gone</mark></code>'
    assert found in person.get("/search", params={"q": "GONE", "verdict": "deny"}).text
    assert found not in person.get("/search", params={"q": "gone", "verdict": "allow"}).text


def test_the_record_that_was_tampered_with_is_told(web, world):
    person = web().login()
    path = next(world.state.glob("audit-*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b'"how":"link"', b'"how":"LINK"'))
    page = person.get("/health").text
    assert "The record is not whole" in page
    assert "Something needs you." in page


def test_health_and_doctor_say_the_same_of_agent_and_approver(web, world):
    told = html.unescape(web().login().get("/health").text)
    doctor = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "doctor", "--json"],
        env=world.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    rows = [row["message"] for row in json.loads(doctor.stdout)["checks"] if row["check"] == "approvals"]
    fence = next(text.removeprefix("fence: ") for text in rows if text.startswith("fence: "))
    assert fence in told


def test_another_link_can_be_made_while_the_page_runs(web):
    page = web()
    first, second = page.login(), page.login(page.another_link())
    assert first.base != second.base
    assert second.get("/inbox").status_code == 200


def test_one_state_folder_has_one_page(web, world):
    page = web()
    done = subprocess.run(page.command, env=page.environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert page.origin in done.stderr
    assert "--link" in done.stderr


def test_without_a_page_there_is_no_link(world):
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "web", "--link"],
        env=world.environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "execkit-mcp web" in done.stderr


def test_logging_out_ends_the_login(web):
    person = web().login()
    assert person.post("/logout").headers["location"] == "/login"
    assert person.get("/inbox").status_code == 401


def test_what_is_told_once_waits_for_a_page_that_a_person_opens(web, submit):
    person = web().login()
    wanted = submit()
    shown = re.search(r'name="digest" value="([^"]+)"', person.get(f"/inbox/{wanted}").text)[1]
    person.post(f"/inbox/{wanted}", {"digest": shown, "answer": "once", "csrf": person.csrf()})
    assert 'class="flash' not in person.get("/inbox", headers={"x-execkit-refresh": "1"}).text
    assert person.flash() == "Allowed, once: touch made.txt"
    assert person.flash() == ""


def test_a_critical_question_asks_for_the_approvers_code(web, world, submit):
    from execkit_mcp.approvals import totp
    from execkit_mcp.approvals.approver import enrol
    from execkit_mcp.model import HazardHit, Severity
    from execkit_mcp.runtime.system import SystemEntropy

    world.state.mkdir(mode=0o700, exist_ok=True)
    secret = enrol(world.state, wanted="critical", entropy=SystemEntropy())
    hazard = HazardHit(id="rm-recursive", severity=Severity.CRITICAL, message="Deletes a tree.")
    critical, plain = submit(canonical="rm -rf build", hazards=(hazard,)), submit()
    person = web().login()
    assert 'name="code"' not in person.get(f"/inbox/{plain}").text
    assert 'name="code"' in person.get(f"/inbox/{critical}").text
    person.answer(critical, "once")
    assert approval(world, critical).state == "pending"
    person.answer(critical, "once", code="000 000")
    assert approval(world, critical).state == "pending"
    code = totp.code_at(secret, totp.step_of(time.time()))
    assert "Allowed, once" in person.answer(critical, "once", code=f"{code[:3]} {code[3:]}")
    assert approval(world, critical).state == "approved"


def test_a_program_with_a_token_of_its_own_answers_without_a_login(web, world, submit):
    page = web()
    wanted = submit()
    desk = desk_of(world)
    token = desk.tokens.issue(wanted)
    desk.close()

    def send(body, **headers):
        return page.client.post(
            "/approvals/answer", content=json.dumps(body), headers={"content-type": "application/json", **headers}
        )

    assert send({"token": "apt_" + "0" * 64, "answer": "approve"}).status_code == 409
    assert send({"token": token, "answer": "perhaps"}).status_code == 400
    assert send({"token": token, "answer": "approve"}, origin="https://evil.example").status_code == 403
    assert send({"token": token, "answer": "approve"}, origin="null").status_code == 403
    assert page.client.post("/approvals/answer", data={"token": token, "answer": "approve"}).status_code == 415
    assert approval(world, wanted).state == "pending"
    assert send({"token": token, "answer": "deny", "reason": "no"}).json() == {"approval_id": wanted, "state": "denied"}
    assert send({"token": token, "answer": "approve"}).status_code == 409


def test_always_is_only_a_suggestion(web, world, submit):
    wanted = submit(canonical="/usr/bin/touch made.txt", cwd=str(world.workspace))
    before = world.policy.read_text()
    page = web().login().get(f"/inbox/{wanted}/always").text
    assert "suggest" in page
    assert world.policy.read_text() == before
    assert approval(world, wanted).state == "pending"


def test_a_stream_says_that_something_changed_and_not_what(web, submit):
    person = web().login()
    with person.client.stream("GET", person.base + "/events", headers={"cookie": person.cookie}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        submit(canonical="a telling command")
        heard = []
        for line in lines:
            heard.append(line)
            if line == "event: change":
                break
    assert "event: change" in heard
    assert "telling" not in "".join(heard)


def test_a_stream_ends_with_its_login(web):
    person = web().login()
    csrf = person.csrf()
    with person.client.stream("GET", person.base + "/events", headers={"cookie": person.cookie}) as answer:
        lines = answer.iter_lines()
        next(lines)
        other = type(person.client)(base_url=person.origin)
        headers = {"cookie": person.cookie, "origin": person.origin}
        other.post(person.base + "/logout", data={"csrf": csrf}, headers=headers)
        other.close()
        assert "event: end" in list(lines)


def test_the_number_of_streams_is_bounded(web):
    import contextlib

    from execkit_mcp.web.events import MAX_STREAMS

    person = web().login()
    with contextlib.ExitStack() as stack:
        statuses = [
            stack.enter_context(
                person.client.stream("GET", person.base + "/events", headers={"cookie": person.cookie})
            ).status_code
            for _ in range(MAX_STREAMS + 1)
        ]
        assert statuses == [200] * MAX_STREAMS + [503]
        assert person.client.get("/login").status_code == 200


@pytest.fixture
def certificate(tmp_path) -> list[str]:
    """The options that name a certificate of our own and its key."""
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ops.example")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (tmp_path / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "key.pem").write_bytes(private)
    return ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]


def test_over_a_network_it_speaks_tls_and_answers_under_its_name(web, certificate, world):
    import httpx2

    page = web("--host", "0.0.0.0", "--public-url", "https://ops.example", *certificate)
    assert page.link.startswith("https://ops.example/login?code=")
    port = json.loads((world.state / "web" / "running").read_text())["port"]
    client = httpx2.Client(base_url=f"https://127.0.0.1:{port}", verify=False, timeout=30)
    code = page.link.partition("?")[2]
    assert client.get(f"/login?{code}", headers={"host": "evil.example"}).status_code == 421
    answer = client.get(f"/login?{code}", headers={"host": "ops.example"})
    assert answer.status_code == 303
    assert "Secure" in answer.headers["set-cookie"]
    headers = {"host": "ops.example", "cookie": answer.headers["set-cookie"].split(";")[0]}
    base = answer.headers["location"].removesuffix("/inbox")
    assert client.get(base + "/inbox", headers=headers).status_code == 200
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(base + "/health", headers=headers).text)[1]
    for origin, status in (("https://evil.example", 403), ("http://ops.example", 403), ("https://ops.example", 303)):
        done = client.post(base + "/logout", data={"csrf": token}, headers={**headers, "origin": origin})
        assert done.status_code == status
    client.close()


def test_a_certificate_that_cannot_be_used_is_said_in_a_sentence(world, tmp_path):
    (tmp_path / "no.pem").write_text("not a certificate")
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "web", "--port", "0", "--tls-cert", str(tmp_path / "no.pem"),
         "--tls-key", str(tmp_path / "no.pem")],
        env=world.environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "certificate" in done.stderr
    assert "Traceback" not in done.stderr
    assert "login?code" not in done.stdout
