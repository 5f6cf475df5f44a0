"""What watches over the server is told whether it works, in numbers and lines that hold nothing of anybody."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from curator_web import create_app
from curator_web.storage import disk_space
from demotape.environment import metrics_token, share_metrics
from schemas import InputError
from tests.support.curator.team_fixtures import add_people, signed_in

TOKEN = "a-token-of-the-tests"


def test_health_is_told_under_every_name_and_to_everybody(tmp_path, monkeypatch):
    app = create_app(None, tmp_path / "data")
    add_people(app)
    client, elsewhere = app.test_client(), {"Host": "10.0.0.7:8000"}
    assert client.get("/", headers=elsewhere).status_code == 400
    assert client.get("/healthz", headers=elsewhere).text == "ok\n"
    answer = client.get("/readyz", headers=elsewhere)
    assert answer.json == {"ready": True, "parts": {"database": "ok", "storage": "ok", "disk": "ok"}}
    monkeypatch.setattr(disk_space.limits, "FREE", 1 << 60)
    shutil.move(tmp_path / "data" / "recordings", tmp_path / "moved")
    answer = client.get("/readyz")
    assert answer.status_code == 503 and answer.json["parts"] == {"database": "ok", "storage": "away", "disk": "full"}
    app.extensions["demotape"].db.close()


def test_numbers_are_for_who_has_the_token(tmp_path):
    app = create_app(None, tmp_path / "data", metrics_token=TOKEN)
    add_people(app)
    lead, client = signed_in(app, "lea"), app.test_client()
    lead.get("/?search=secret-words")
    lead.get("/no-such-page")
    app.extensions["demotape"].jobs.add("export", "lea", {"format": "no"})
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}x"}):
        assert client.get("/metrics", headers=given).status_code == 401
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    assert 'demotape_requests_total{endpoint="pages.index",method="GET",status="200"}' in text
    assert 'demotape_requests_total{endpoint="none",method="GET",status="404"}' in text
    assert 'demotape_up{part="database"} 1.0' in text and "demotape_disk_free_bytes" in text
    assert 'demotape_jobs{kind="export",state="' in text and "secret-words" not in text
    assert create_app(None, tmp_path / "other").test_client().get("/metrics").status_code == 404
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


def test_a_token_that_is_too_short_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("DEMOTAPE_METRICS_TOKEN", "short")
    with pytest.raises(InputError, match="16 characters"):
        metrics_token()
    monkeypatch.setenv("DEMOTAPE_METRICS_TOKEN", TOKEN)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "kept")
    (tmp_path / ".metrics" / "999999999").mkdir(parents=True)
    assert metrics_token() == TOKEN
    share_metrics(tmp_path)
    assert os.listdir(tmp_path / ".metrics") == [str(os.getppid())]


def test_lines_tell_requests_by_their_route(tmp_path):
    program = ("from pathlib import Path\nimport sys\nfrom curator_web import create_app\n"
               "from tests.support.curator.team_fixtures import add_people, signed_in\n"
               "app = create_app(None, Path(sys.argv[1]), logs=True)\nadd_people(app)\n"
               "lea = signed_in(app, 'lea')\nlea.get('/?search=secret-words')\n"
               "lea.get('/demonstrations/rec-1', headers={'X-Request-ID': 'forged-by-the-client'})\n"
               "app.logger.warning('told')\n")
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    asked = [line for line in lines if line.get("message") == "request"]
    assert [(line["route"], line["status"], line["who"]) for line in asked[-2:]] == [
        ("/", 200, "lea"), ("/demonstrations/<demonstration_id>", 404, "lea")]
    assert asked[-1]["demonstration"] == "rec-1" and len({line["request"] for line in asked}) == len(asked)
    assert "secret-words" not in done.stderr and "forged" not in done.stderr
    assert lines[-1]["message"] == "told" and lines[-1]["level"] == "warning"
