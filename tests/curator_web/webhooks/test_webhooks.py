"""Webhooks: what is told of, signed, tried again, given up; where nothing is sent; one that hangs holds nobody else."""

import base64
import hashlib
import hmac
import ipaddress
import json
import threading
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sqlalchemy import update

from curator_web import create_app
from curator_web.db.models.webhook_models import Webhook, WebhookDelivery
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import comments
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import InputError, NotAllowed, NotFound
from curator_web.jobs.queue import Jobs
from curator_web.notifications import reading
from curator_web.users import Account
from curator_web.webhooks import addresses, hooks, posting, sending
from curator_web.webhooks.events import EVENTS
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import ANN, LEA, VAL, add_people, csrf, signed_in
from tests.support.waiting import PATIENCE_S, wait_until

HERE = (ipaddress.ip_network("127.0.0.0/8"),)
# What asks the database nothing that others do not ask of both.
ON_SQLITE = pytest.mark.parametrize("db_url", ["sqlite"], indirect=True)


class Receiver:
    """A server that answers each path with what is planned for it, the last one for ever: a code, or silence (0)."""

    def __init__(self):
        self.plans, self.got = defaultdict(lambda: [204]), []
        self.went, self.goes_on = threading.Condition(), threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                plan = receiver.plans[self.path]
                code = plan.pop(0) if len(plan) > 1 else plan[0]
                with receiver.went:
                    receiver.got.append((self.path, dict(self.headers), body))
                    receiver.went.notify_all()
                if not code:
                    receiver.goes_on.wait(60)
                self.send_response(code or 204)
                self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, path: str, count: int) -> list[tuple[dict, bytes]]:
        """What came to a path, once it came so often."""
        with self.went:
            assert self.went.wait_for(lambda: sum(each[0] == path for each in self.got) >= count, PATIENCE_S)
            return [(headers, body) for where, headers, body in self.got if where == path]

    def close(self) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def app(tmp_path, db_url, monkeypatch):
    monkeypatch.setattr(sending, "POLL_INTERVAL_S", 0.02)
    app = create_app(db_url, tmp_path / "data", webhook_networks=HERE)
    services = app.extensions["demotape"]
    app.extensions["tokens"] = add_people(app)
    import_recording(services.db, services.store, make_recording(tmp_path), recorded_by="ann")
    yield app
    services.jobs.close()
    services.db.close()


@pytest.fixture
def services(app):
    return app.extensions["demotape"]


def settled(services, webhook_id: int, count: int = 1) -> list[WebhookDelivery]:
    """The deliveries, the first one first, once so many have ended."""
    def deliveries() -> list[WebhookDelivery]:
        return services.webhooks.show(LEA, webhook_id)[1]

    wait_until(lambda: sum(delivery.ended_at is not None for delivery in deliveries()) >= count,
               what=f"the end of {count} deliveries")
    return deliveries()[::-1]


def signature(secret: str, headers: dict, body: bytes) -> str:
    """As the specification has it."""
    signed = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def test_what_happens_is_sent_signed_and_without_words(services, receiver):
    row, secret = services.webhooks.add(LEA, f"{receiver.url}/a?b=c", EVENTS)
    services.jobs.start()
    version = change_status(services.db, "rec-1", "submitted", 1, ANN)
    change_status(services.db, "rec-1", "returned", version, VAL, "secret reason")
    comments.add_comment(services.db, "rec-1", VAL, "secret words")
    assert [each.state for each in settled(services, row.id, 3)] == ["delivered"] * 3
    came = receiver.wait("/a?b=c", 3)
    for headers, body in came:
        assert headers["webhook-signature"] == signature(secret, headers, body)
        assert abs(time.time() - int(headers["webhook-timestamp"])) < 60 and b"secret" not in body
        assert headers["content-type"] == "application/json"
    told = [json.loads(body) for _, body in came]
    assert [each["type"] for each in told] == ["demonstration.submitted", "demonstration.returned", "comment.added"]
    assert told[1]["data"] == {"project": "main", "demonstration": "rec-1", "status": "returned", "version": 3,
                               "who": "val"}
    assert len({headers["webhook-id"] for headers, _ in came}) == 3


def test_what_failed_is_sent_again_and_one_that_hangs_holds_nobody_else(services, receiver, monkeypatch):
    monkeypatch.setattr(sending, "PAUSES", (timedelta(milliseconds=10),) * 3)
    monkeypatch.setattr(sending, "LONGEST_REST", 0.01)
    monkeypatch.setattr(posting, "SECONDS", 0.3)
    receiver.plans |= {"/bad": [500, 302, 0, 204], "/hangs": [0], "/gone": [410]}
    bad, hangs, gone, good = (services.webhooks.add(LEA, receiver.url + path, ["comment.added"])[0].id
                              for path in ("/bad", "/hangs", "/gone", "/good"))
    services.jobs.start()
    comments.add_comment(services.db, "rec-1", VAL, "Good")
    assert settled(services, good)[0].code == 204
    done, = settled(services, bad)
    assert (done.state, done.code, done.problem, done.tries) == ("delivered", 204, None, 4)
    assert len({headers["webhook-id"] for headers, _ in receiver.wait("/bad", 4)}) == 1
    assert not any(path == "/elsewhere" for path, *_ in receiver.got)
    left, = settled(services, hangs)
    assert (left.state, left.code, left.problem, left.tries) == ("given-up", None, "no answer within 0.3 seconds", 4)
    assert services.webhooks.show(LEA, hangs)[0].failures == 4
    assert settled(services, gone)[0].code == 410 and services.webhooks.show(LEA, gone)[0].state == "off"
    assert [each.kind for each in reading.latest_notifications(services.db, LEA)] == ["webhook-off"]
    receiver.plans["/hangs"] = [204]
    services.webhooks.send_again(LEA, left.id)
    assert settled(services, hangs)[0].state == "delivered"
    with pytest.raises(InputError, match="switched off"):
        services.webhooks.send_again(LEA, services.webhooks.show(LEA, gone)[1][0].id)


def test_one_that_fails_for_days_is_switched_off_and_what_is_old_goes(services, receiver):
    receiver.plans["/"] = [503]
    row, _ = services.webhooks.add(LEA, receiver.url, ["comment.added", "comment.added"])
    long_ago = datetime.now(UTC) - sending.SWITCH_OFF_AFTER
    with services.db.writing() as session:
        session.execute(update(Webhook).values(failing_since=long_ago, failures=9))
    for _ in range(2):
        comments.add_comment(services.db, "rec-1", VAL, "Good")
    services.jobs.start()
    assert [(each.state, each.tries) for each in settled(services, row.id, 2)] == [("given-up", 1), ("given-up", 0)]
    comments.add_comment(services.db, "rec-1", VAL, "Better")
    assert len(services.webhooks.show(LEA, row.id)[1]) == 2 and reading.unread(services.db, LEA) == 1
    services.webhooks.switch(LEA, row.id, True)
    assert services.webhooks.show(LEA, row.id)[0].failing_since is None
    with services.db.writing() as session:
        session.execute(update(WebhookDelivery).values(ended_at=datetime.now(UTC) - hooks.RETENTION))
    services.webhooks.forget_old()
    assert services.webhooks.show(LEA, row.id)[1] == []


@ON_SQLITE
def test_jobs_are_told_when_they_end(services):
    row, _ = services.webhooks.add(LEA, "https://hook.example", ["export.done", "import.done", "import.failed"])

    def work(job, _step):
        if job.arguments["fails"]:
            raise InputError("secret")
        return {"demonstration": "rec-1"}
    for kind, fails in (("import", True), ("import", False), ("export", True)):
        jobs = Jobs(services.db, {kind: work})
        number = jobs.add(kind, "ann", {"fails": fails})
        while jobs.get(number).ended_at is None:
            jobs.start()
            jobs.close()
            jobs = Jobs(services.db, {kind: work})
    told = services.webhooks.show(LEA, row.id)[1]
    assert [(each.event, each.body["data"].get("demonstration")) for each in told] == [
        ("import.done", "rec-1"), ("import.failed", None)]


@pytest.mark.parametrize(("address", "may"), [
    ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.0.0.1", False),
    ("169.254.169.254", False), ("192.168.1.1", False), ("100.64.0.1", False), ("0.0.0.0", False), ("::", False),
    ("224.0.0.1", False), ("::1", False), ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False),
    ("64:ff9b::7f00:1", False), ("fec0::1", False), ("192.88.99.1", False), ("3fff::1", False),
    ("5f00::1", False), ("64:ff9b:1::1", False), ("100::1", False), ("::8.8.8.8", False), ("::ffff:0:8.8.8.8", False),
    ("4000::1", False), ("2002:7f00:1::", False), ("255.255.255.255", False)])
def test_only_public_addresses_are_reached_unless_allowed(address, may):
    assert addresses.may_be_reached(address, ()) is may
    assert addresses.may_be_reached(address, [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")])


def test_nothing_is_sent_to_this_machine_unless_its_network_is_allowed(receiver):
    message = posting.Message("msg_1", receiver.url, "whsec_AAAA", {})
    for url in (receiver.url, receiver.url.replace("127.0.0.1", "localhost"), receiver.url.replace("127.0.0.1", "0")):
        with pytest.raises(addresses.Unreachable, match="not public"):
            posting.post(posting.Message("msg_1", url, "whsec_AAAA", {}), ())
    assert receiver.got == [] and posting.post(message, HERE) == 204
    with pytest.raises(addresses.Unreachable, match="secure|failed|connected"):
        posting.post(posting.Message("msg_1", receiver.url.replace("http:", "https:"), "whsec_AAAA", {}), HERE)
    with pytest.raises(InputError, match="DEMOTAPE_X: 'ten'"):
        addresses.read_networks("ten", "DEMOTAPE_X")
    assert addresses.read_networks("10.0.0.0/8, ::1", "x") == (ipaddress.ip_network("10.0.0.0/8"),
                                                               ipaddress.ip_network("::1"))


@ON_SQLITE
def test_pages_and_api_are_for_leads(app, services, receiver):
    api = {name: {"headers": {"Authorization": f"Bearer {token}"}} for name, token in app.extensions["tokens"].items()}
    client, given = app.test_client(), {"url": receiver.url, "events": ["comment.added"]}
    for wrong in ("ftp://a.example", "http://", "https://a:b@c.example", "https://a.example:99999", "http://ä.example"):
        assert client.post("/api/webhooks", json=given | {"url": wrong}, **api["lea"]).status_code == 400
    assert client.post("/api/webhooks", json=given, **api["val"]).status_code == 403
    made = client.post("/api/webhooks", json=given, **api["lea"]).json
    assert made["secret"].startswith("whsec_") and "secret" not in client.get("/api/webhooks", **api["lea"]).json[0]
    with services.db.reading() as session:
        assert made["secret"] not in session.get(Webhook, made["id"]).secret
    comments.add_comment(services.db, "rec-1", VAL, "Good")
    sent = client.get(f"/api/webhooks/{made['id']}/deliveries", **api["lea"]).json
    assert [(each["state"], each["event"]) for each in sent] == [("waiting", "comment.added")]
    for who, error in ((VAL, NotAllowed), (Account("lea", "lead", project="b"), NotFound)):
        with pytest.raises(error):
            services.webhooks.renew(who, made["id"])
    lea = signed_in(app, "lea")
    page, token = f"/webhooks/{made['id']}", {"csrf_token": csrf(lea, "/webhooks")}
    assert "comment.added" in lea.get(page).text and made["secret"] not in lea.get(page).text
    assert "whsec_" in lea.post(f"{page}/secret", data=token).text
    assert "whsec_" in lea.post("/webhooks", data=token | {"url": "https://b.example", "event": "export.done"}).text
    assert "Switch on" in lea.post(f"{page}/state", data=token | {"state": "off"}, follow_redirects=True).text
    assert signed_in(app, "val").get("/webhooks").status_code == 403
    assert client.delete(f"/api/webhooks/{made['id']}", **api["lea"]).status_code == 204
    assert lea.post(f"/webhooks/{made['id'] + 1}/remove", data=token).status_code == 303
    assert client.get("/api/webhooks", **api["lea"]).json == []
