"""Tasks by command and by script: a file is added, the next one is taken here and from a server, and recorded."""

import json

import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.tasks import bank
from curator_web.users import Account
from demotape import recording
from demotape.cli import main
from demotape.client import Client, Refused
from demotape.commands import next_task
from schemas import InputError
from tests.support.curator.curator_fixtures import serving
from tests.support.curator.team_fixtures import add_people


def run(*arguments, **environment):
    return CliRunner(env={"COLUMNS": "120", "CI": "1", **environment}).invoke(main, list(map(str, arguments)))


@pytest.fixture
def app(tmp_path):
    app = create_app(None, tmp_path / "app")
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def recorded(monkeypatch) -> list[dict]:
    """What `record` was asked to record, without a browser."""
    asked = []

    async def record(url, directory, task, **options):
        asked.append({"url": url, "task": task, **options["provenance"]})
        raise InputError("nobody is here")

    monkeypatch.setattr(recording, "record", record)
    return asked


def test_a_file_is_added_and_its_tasks_are_recorded_one_after_the_other(app, tmp_path, recorded):
    (tmp_path / "tasks.csv").write_text("text,url,category\nFind lamps,https://a.example,Home\n"
                                        "Find lamps!,https://a.example,\n")
    added = run("task", "add", tmp_path / "tasks.csv", "--data", tmp_path / "app")
    assert added.exit_code == 0 and "2 tasks added; 1 of them are near-duplicates" in added.output
    told = run("task", "list", "--data", tmp_path / "app").output
    assert "a.example" in told and "Home" in told and "not told" in told
    (tmp_path / "bad.jsonl").write_text(json.dumps({"text": "A", "wanted": -1}))
    bad = run("task", "add", tmp_path / "bad.jsonl", "--data", tmp_path / "app")
    assert bad.exit_code == 2 and "bad.jsonl: line 1, field wanted" in bad.output
    run("record", "--next", "--headless", "--data", tmp_path / "app")
    run("record", "http://b.example", "--next", "--headless", "--data", tmp_path / "app")
    task = bank.find(app.extensions["demotape"].db, Account("local", "lead"), search="lamps").tasks[-1]
    assert recorded == [{"url": url, "task": "Find lamps", "task_id": f"main/{task.id}"}
                        for url in ("https://a.example", "http://b.example")]
    both = run("record", "--next", "--task", "Mine", "--data", tmp_path / "app")
    assert both.exit_code == 2 and "either --task or --next" in both.output
    nowhere = run("record", "--next", "--data", tmp_path / "nowhere")
    assert nowhere.exit_code == 2 and "is not a demotape data folder" in nowhere.output
    assert not (tmp_path / "nowhere").exists()


def test_a_server_gives_the_next_task_to_who_has_a_token(app, tmp_path, recorded):
    tokens = add_people(app)
    with pytest.raises(InputError, match="has accounts; pass --server"):
        next_task.take_task(None, None, None, None, tmp_path / "app")
    with serving(app) as url:
        client = Client(url, tokens["ann"])
        with pytest.raises(Refused, match="No task is left"):
            client.next_task()
        proposed, = client.add_tasks([{"text": "Find lamps", "url": "https://a.example"}])
        assert proposed["state"] == "proposed" and [each["id"] for each in client.tasks()] == [proposed["id"]]
        Client(url, tokens["lea"]).add_tasks([{"text": "Count chairs"}])
        done = run("record", "https://c.example", "--next", "--headless", DEMOTAPE_SERVER=url,
                   DEMOTAPE_TOKEN=tokens["ann"])
        assert "Task: Count chairs" in done.output and recorded[0]["task"] == "Count chairs"
        given = client.next_task()
        assert given["consent_prompt"] == "session"
        assert run("project", "set", "main", "--consent-prompt", "person", "--data", tmp_path / "app").exit_code == 0
        assert client.next_task() == given | {"consent_prompt": "person"}
        assert recorded[0]["task_id"] == given["name"]
        client.give_back(given["id"], "There are none", unachievable=True)
        assert [each["objections"] for each in client.tasks(search="chairs")] == [
            [{"who": "ann", "reason": "There are none"}]]
        refused = run("record", "--next", "--headless", "--server", url, "--token", "wrong")
        assert refused.exit_code == 2 and "Unknown token" in refused.output
