"""The DOM view shows what scripts painted, though it runs none: in the size it had, from the screenshot."""

import json

import cv2
import numpy as np
import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import current, import_recording
from tests.support.curator.curator_fixtures import action, make_recording, pointer

BODY = ('<style>body { margin: 0 } #wide { width: 50%; margin-top: 10px }</style>'
        '<canvas data-demotape-uid="5" id="plain" width="200" height="100"></canvas><br>'
        '<canvas data-demotape-uid="6" id="wide" width="200" height="50">fallback</canvas>')


def painted(box: dict, uid: str = "5"):
    """A turn before which a script had painted the upper half of the picture's canvas blue."""
    def turns(writer):
        picture = np.full((720, 1280, 3), 255, np.uint8)
        picture[:50, :200] = (200, 0, 0)
        made = action(writer, 1, "click", pointer(), BODY)
        made["state"] |= {
            "screenshot": writer.blob(cv2.imencode(".png", picture)[1].tobytes()),
            "elements": writer.blob(json.dumps([{"uid": uid, "tag": "canvas", "bbox": box}]).encode())}
        return [made]
    return turns


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    yield app
    app.extensions["demotape"].jobs.close()


def shown(app, folder, turns) -> str:
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(folder, make_turns=turns))
    state = current(services.db, "rec-1")["turns"][0]["state"]
    answer = app.test_client().get(f"/snapshot/rec-1/{state['dom']}", query_string={
        "screenshot": state["screenshot"], "elements": state["elements"], "width": 1280})
    assert answer.status_code == 200
    return answer.text


def test_a_canvas_has_its_size_and_its_picture_without_scripts(app, browser, tmp_path):
    text = shown(app, tmp_path, painted({"x": 0, "y": 0, "width": 200, "height": 100}))
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_content(text)
    box = page.locator("#plain").bounding_box()
    assert (box["width"], box["height"]) == (200, 100)
    wide = page.locator("#wide").bounding_box()
    assert (wide["width"], wide["height"]) == (640, 160), "the page's own rules go before"
    picture = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert tuple(picture[25, 100]) == (200, 0, 0) and tuple(picture[75, 100]) == (255, 255, 255)
    context.close()


@pytest.mark.parametrize("box", [
    {"x": -1e300, "y": 0, "width": 1e300, "height": 1e300}, {"x": 0, "y": 0, "width": float("nan"), "height": 1},
    {"x": "0", "y": 0, "width": 1, "height": 1}, {"x": 5000, "y": 5000, "width": 10, "height": 10}, {}, None])
def test_a_box_that_cannot_be_costs_nothing(app, tmp_path, box):
    assert "fallback" in shown(app, tmp_path, painted(box))


def test_what_a_page_is_shown_with_must_be_of_the_recording(app, tmp_path):
    shown(app, tmp_path, painted({"x": 0, "y": 0, "width": 200, "height": 100}))
    state = current(app.extensions["demotape"].db, "rec-1")["turns"][0]["state"]
    client = app.test_client()
    for query in ("screenshot=" + "0" * 64, "elements=../recording.json", "width=-3", "width=x",
                  f"elements={state['dom']}&screenshot={state['dom']}&width=1280"):
        assert client.get(f"/snapshot/rec-1/{state['dom']}?{query}").status_code in (200, 404), query
