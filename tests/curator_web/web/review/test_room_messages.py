"""A message of a live room is shown with the model that wrote it, and the element that it points at."""

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from tests.support.curator.curator_fixtures import action, chat, make_recording, pointer

BOX = {"x": 1.0, "y": 2.0, "width": 30.0, "height": 10.0}


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    yield app
    app.extensions["demotape"].jobs.close()


def page(app, folder, **fields) -> str:
    services = app.extensions["demotape"]
    recording = make_recording(folder, make_turns=lambda writer: [
        chat(1, "instructor", "This one") | fields, action(writer, 2, "click", pointer())])
    import_recording(services.db, services.store, recording)
    return app.test_client().get("/demonstrations/rec-1?turn=t1").text


def pointing(**element) -> dict:
    named = {"uid": "e1", "tag": "button", "role": "button", "frame": [], "bbox": BOX} | element
    return {"tab": 1, "picture_time": 0.5, "box": BOX, "element": named if element else None}


def test_the_element_and_the_model_are_named_as_text(app, tmp_path):
    text = page(app, tmp_path, model="m-<1>", pointing=pointing(name="Send <b>now</b>"))
    assert "written by the model m-&lt;1&gt;" in text and "Points at “Send &lt;b&gt;now&lt;/b&gt;”" in text


def test_a_place_without_an_element(app, tmp_path):
    text = page(app, tmp_path, pointing=pointing())
    assert "Points at a place of the page" in text and "written by" not in text


def test_a_message_of_a_person_alone(app, tmp_path):
    text = page(app, tmp_path)
    assert "Points at" not in text and "written by" not in text
