"""An element that is there but not shown yet, or is replaced by another one, is waited for."""

import asyncio

import pytest

from recorder.devtools.sessions import ProtocolError
from replay.running import acting
from replay.running.acting import ActionFailed, Actor

_BOX = (10.0, 20.0, 30.0, 40.0)


def _point(monkeypatch, tmp_path, boxes: list, patience: float = 5.0, bbox=None, arguments=None):
    async def box(found, *, scrolled=True):
        told = boxes.pop(0) if len(boxes) > 1 else boxes[0]
        if isinstance(told, Exception):
            raise told
        return told

    async def find(worlds, element):
        return "found again"

    monkeypatch.setattr(acting, "box", box)
    monkeypatch.setattr(acting, "_FIND_POLL_S", 0.001)
    monkeypatch.setattr(acting, "_STEADY_POLL_S", 0.001)
    actor = Actor(None, list, tmp_path, patience, finder=find)
    return asyncio.run(actor._point(arguments or {}, "found", {"bbox": bbox, "tag": "a"}))


@pytest.mark.parametrize("boxes", [
    [ProtocolError("Node does not have a layout object"), None, _BOX], [(0.0, 0.0, 30.0, 40.0), _BOX],
    [_BOX, ProtocolError("Node is detached from document"), _BOX]])
def test_it_is_pressed_once_it_is_shown_and_stands_still(monkeypatch, tmp_path, boxes):
    assert _point(monkeypatch, tmp_path, boxes) == (25.0, 40.0)


def test_where_it_stands_as_recorded_it_is_pressed_at_once_where_it_was(monkeypatch, tmp_path):
    """An edge belongs to another element, maybe: the recorded point counts, not one that is surely inside."""
    boxes = [_BOX, ProtocolError("it is not asked again")]
    bbox = {"x": 10.3, "y": 20.0, "width": 30.0, "height": 40.0}
    assert _point(monkeypatch, tmp_path, boxes, bbox=bbox, arguments={"x": 39.9, "y": 19.9}) == (39.9, 19.9)
    assert len(boxes) == 1


def test_what_is_never_shown_is_not_pressed(monkeypatch, tmp_path):
    with pytest.raises(ActionFailed, match="not shown"):
        _point(monkeypatch, tmp_path, [None], 0.0)
