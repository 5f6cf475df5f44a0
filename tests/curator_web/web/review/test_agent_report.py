"""What an agent reported of a step is beside its turn."""

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from tests.support.curator.curator_fixtures import action, make_recording, pointer

REPORT = {"step": 3, "reasoning": "The <b>button</b>\nis near", "model": "m-1", "output_tokens": 12, "cost": 0.02,
          "error": "it was late", "reward": 0.5, "duration": 1.25}


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    yield app
    app.extensions["demotape"].jobs.close()


def page(app, folder, report: dict) -> str:
    services = app.extensions["demotape"]
    recording = make_recording(folder, make_turns=lambda writer: [action(writer, 1, "click", pointer()) | report])
    import_recording(services.db, services.store, recording)
    return app.test_client().get("/demonstrations/rec-1").text


def test_it_is_shown_as_text(app, tmp_path):
    text = page(app, tmp_path, {"agent": REPORT})
    assert "Agent, step 3" in text and "The &lt;b&gt;button&lt;/b&gt;\nis near" in text
    assert all(words in text for words in ("m-1", "– read, 12 written", "$0.02", "it was late", "0.5", "1.2 s"))


def test_a_person_has_none(app, tmp_path):
    assert "Agent, step" not in page(app, tmp_path, {})
