"""The dashboard says how long instructor and navigator are waited for."""

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.measuring.figures import figures
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, signed_in


def said(name: str, time: float, speaker: str) -> dict:
    return {"id": name, "type": "chat", "timestamp": time, "speaker": speaker, "utterance": "Go on", "checks": [],
            "dropped": False}


def test_the_dashboard_says_how_long_the_roles_are_waited_for(tmp_path):
    def change(turns):
        for turn in turns:
            turn["timestamp"] += 100
            if turn["type"] == "chat":
                turn["dropped"] = True
        turns[:0] = [said("c1", 10, "instructor"), said("c2", 14, "navigator"), said("c3", 24, "instructor")]

    app = create_app(None, tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    assert figures(services.db).waiting == []
    import_recording(services.db, services.store, make_recording(tmp_path, change=change))
    waiting = dict(figures(services.db).waiting)
    assert waiting["instructor"] == pytest.approx(10) and waiting["navigator"] > 4
    page = signed_in(app, "lea").get("/dashboard").text
    assert "Seconds for the instructor" in page and "Waiting in sessions of two" in page
    services.db.close()
