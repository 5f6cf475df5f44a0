"""The client for scripts, against the app and against what the app says of its API."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import current, import_recording, listed
from demotape.client import Client, Refused, _may_have_token
from pipeline.judging.model_judge import Judgement
from tests.support.curator.curator_fixtures import make_recording, serving
from tests.support.curator.team_fixtures import add_people


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    for number in range(1, 4):
        path = make_recording(tmp_path, recording_id=f"rec-{number}")
        import_recording(services.db, services.store, path, recorded_by="bob")
    yield app
    services.db.close()


def test_a_script_goes_through_annotations_and_gives_them_back(app, tmp_path):
    db, path = app.extensions["demotape"].db, tmp_path / "annotations.jsonl"
    with serving(app) as url:
        client = Client(url, app.tokens["ann"])
        assert client.write_annotations(path, sort="imported_at", order="asc") == 3
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert [line["demonstration"] for line in lines] == ["rec-1", "rec-2", "rec-3"]
        assert lines[0]["edits"] == lines[0]["comments"] == [] and lines[0]["status"] == "draft"
        lines[0]["edits"] += [{"edit": {"op": "set_task", "task": "Fly"}},
                              {"edit": {"op": "drop", "turns": ["t2", "t3"]}}]
        lines[0]["comments"].append({"turn": "t4", "text": "Which city?"})
        lines[1]["status"] = "submitted"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for _ in range(2):  # what is applied again changes nothing
            assert client.apply_annotations(path) == 3
            assert [turn["id"] for turn in current(db, "rec-1")["turns"] if turn["dropped"]] == ["t2", "t3"]
            assert (listed(db, "rec-1").task, listed(db, "rec-1").version) == ("Fly", 3)
            assert listed(db, "rec-2").status == "submitted"
        first = next(client.annotations(search="rec-1"))
        assert [edit["edit"]["op"] for edit in first["edits"]] == ["set_task", "drop"]
        assert [(comment["turn"], comment["who"]) for comment in first["comments"]] == [("t4", "ann")]
        assert client.turns("rec-1")["task"] == "Fly" and client.next()["id"] in ("rec-1", "rec-3")


def test_the_token_goes_to_no_other_server():
    headers: dict[str, str | None] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            headers[self.headers["Host"] + self.path.partition("?")[0]] = self.headers["Authorization"]
            to = {"/api/projects": "/api/moved", "/other/api/projects": f"http://localhost:{other.server_port}/x"}
            content = b"[]"
            self.send_response(302 if self.path in to else 200)
            if self.path in to:
                self.send_header("Location", to[self.path])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    servers = server, other = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
    for one in servers:
        threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True).start()
    origin = f"127.0.0.1:{server.server_port}"
    assert Client(f"http://{origin}", "key").projects() == []
    assert Client(f"http://{origin}/other", "key").projects() == []
    for one in servers:
        one.shutdown()
        one.server_close()
    assert headers == {f"{origin}/api/projects": "Bearer key", f"{origin}/api/moved": "Bearer key",
                       f"{origin}/other/api/projects": "Bearer key", f"localhost:{other.server_port}/x": None}


@pytest.mark.parametrize("before, after, kept", [
    ("http://a.example/x", "http://a.example/y", True), ("http://a.example/x", "https://a.example/x", True),
    ("https://a.example/x", "http://a.example/x", False), ("http://a.example:81/x", "http://a.example/x", False),
    ("http://a.example/x", "http://a.example.evil/x", False), ("http://a.example/x", "https://a.example:8443/", False)])
def test_which_redirect_keeps_the_token(before, after, kept):
    assert _may_have_token(before, after) is kept


def test_what_is_refused_says_why(app, tmp_path):
    with serving(app) as url:
        client = Client(url, app.tokens["ann"])
        stale = next(client.annotations(search="rec-1"))
        client.edit("rec-1", {"op": "drop", "turn": "t1"}, stale["version"])
        stale["edits"].append({"edit": {"op": "drop", "turn": "t2"}})
        (tmp_path / "a.jsonl").write_text(json.dumps(stale) + "\n")
        for refused, status, words in (
                (lambda: client.apply_annotations(tmp_path / "a.jsonl"), 409, "line 1: This demonstration was changed"),
                (lambda: client.demonstration("no-such"), 404, "Unknown demonstration"),
                (lambda: client.edit("rec-1", {"op": "drop"}, 1), 422, "turn"),
                (lambda: client.set_status("rec-1", "approved", 2), 403, ""),
                (lambda: next(Client(url, "wrong").demonstrations()), 401, "token")):
            with pytest.raises(Refused) as caught:
                refused()
            assert caught.value.status == status and words in str(caught.value), str(caught.value)
        (tmp_path / "a.jsonl").write_text("{\n")
        with pytest.raises(Refused, match="line 1: no annotations"):
            client.apply_annotations(tmp_path / "a.jsonl")
    with pytest.raises(Refused, match="no answer"):
        Client("http://127.0.0.1:9", "x").demonstration("rec-1")


def test_people_say_whether_tasks_were_done(app):
    with serving(app) as url:
        lead, client = Client(url, app.tokens["lea"]), Client(url, app.tokens["ann"])
        assert lead.draw_judging(2) == 2 and client.judging()["left"] == 2
        first = client.next_to_judge()
        assert client.next_to_judge(first["id"])["id"] != first["id"]
        while found := client.next_to_judge():
            client.judge(found["id"], found["id"] == first["id"])
        assert client.judging()["labelled"] == 2 and lead.judging()["people"] == {"ann": 2}
        verdict = Judgement(first["recording"], "judge", "127.0.0.1:1", "success", "It is.", 1.0, 9, 3, "a" * 64)
        assert lead.send_verdicts([vars(verdict)])["new"] == 1
        assert [judge["judge"] for judge in lead.judged()["judges"]] == ["judge"]
        with pytest.raises(Refused, match="lead"):
            client.judged()


def test_it_asks_for_what_the_api_describes(app, monkeypatch):
    """Every method of the client is an operation of the description, with the fields that it names."""
    asked = []
    answer = {"version": 1, "demonstration": None, "demonstrations": [], "next": "", "pairs": [], "paired": 0,
              "batch": "", "restored": 0, "jobs": [], "changed": 0, "drawn": 0}
    monkeypatch.setattr(Client, "_ask", lambda self, *given: asked.append(given) or answer)
    client = Client("http://127.0.0.1", "x")
    list(client.demonstrations(status="draft", search="x", site="a", sort="turns", order="asc"))
    client.demonstration("a")
    client.turns("a")
    client.edits("a")
    client.edit("a", {}, 1)
    client.set_status("a", "draft", 1)
    client.comments("a")
    client.comment("a", "x")
    client.next()
    client.next_task()
    client.add_tasks([])
    client.give_back("b")
    client.pairs()
    client.pair(["a"])
    client.agreement()
    client.training()
    client.choose_training(["a"])
    client.judging()
    client.draw_judging(5, 1)
    client.next_to_judge("a")
    client.judge("d", True)
    client.send_verdicts([])
    client.judged()
    client.assign(["a"], "ann")
    client.set_statuses(["a"], "approved")
    client.delete(["a"])
    client.restore("c")
    client.export(format="chat", preset="b")
    client.job(5)
    client.jobs()
    client.again(5)
    client.presets()
    client.settings("p")
    client.change_settings("p", review_steps=3)
    description = app.test_client().get("/api/openapi.json").json
    for method, address, *content in asked:
        path, _, query = address.partition("?")
        path = "/api/" + path
        for short, full in (("demonstrations/a", "demonstrations/{demonstration_id}"), ("tasks/b", "tasks/{task_id}"),
                            ("labels/d", "labels/{demonstration_id}"), ("projects/p", "projects/{project}"),
                            ("jobs/5", "jobs/{job_id}"), ("deletions/c", "deletions/{batch}")):
            path = path.replace(short, full)
        operation = description["paths"][path][method.lower()]
        named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        assert {each.partition("=")[0] for each in query.split("&") if each} <= named, address
        if content:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert set(content[0]) <= set(description["components"]["schemas"][schema]["properties"]), address
