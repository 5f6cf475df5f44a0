"""How like each state's rendered page is to its screenshot: a state checks itself, on whatever pages were recorded.

Rendering a page takes about a second, so this is no stage of `demotape process` but `demotape check --rendered`; a
demonstration that is processed again keeps what was measured.
"""

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError

from recorder import Recording
from recorder.pictures import decode_picture
from schemas import DemonstrationSchema, InputError, ProcessedSchema
from schemas.files import dump_json, read_json, write_atomically
from schemas.types.recordings import Demonstration, TurnState

from .align.pictures.ssim import ssim
from .cache import inputs
from .checks import with_checks_of_rendering
from .pages.offline import limit_memory, offline_browser, restore, set_size
from .pages.rendering import Resources, render
from .similarity import is_good, key_of, with_similarity

_TIMEOUT_S = 30.0  # of showing one page
_AROUND_SECRET_PX = 8  # around a secret field, black in screenshots too
_LOW = 0.9  # SSIM under which the page is compared again with the pointer in it
_SMALLEST = 7  # pixels of a picture's side that can be compared
# Boxes of fields whose content is black in screenshots.
_SECRET_BOXES = """() => (function all(scope, x, y) {
  const boxes = [];
  for (const element of scope.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    if (element.type === 'password' || element.getAttribute('value') === '[REDACTED]')
      boxes.push([box.left + x, box.top + y, box.right + x, box.bottom + y]);
    if (element.shadowRoot) boxes.push(...all(element.shadowRoot, x, y));
    if (element.contentDocument)
      boxes.push(...all(element.contentDocument, box.left + element.clientLeft + x, box.top + element.clientTop + y));
  }
  return boxes;
})(document, 0, 0)"""


def measure(recording: Recording, step: Callable[[], None] = lambda: None) -> Demonstration:
    """Compare the rendered page of each state that has a good screenshot with it, and note the result in the
    recording's demonstration.json, with a check where it is low; returns the demonstration.

    `step` is called for each state. Raises InputError where there is no demonstration or it cannot be read.
    """
    layout = recording.layout
    demonstration = read_json(layout.demonstration, DemonstrationSchema())
    similarities: dict[tuple[Any, ...], float] = {}
    with offline_browser() as browser:
        resources = Resources(recording)
        for turn in demonstration["turns"]:
            if turn["type"] != "browser" or not (state := turn["state"]) or not is_good(state):
                continue
            if (key := key_of(state)) not in similarities:
                pointer = turn["arguments"].get("x"), turn["arguments"].get("y")
                value = _similarity(browser, recording, state, resources, pointer)
                if value is not None:
                    similarities[key] = round(value, 4)
            step()
    measured = with_checks_of_rendering(with_similarity(demonstration, similarities))
    content = dump_json(measured)
    unchanged = layout.processed.exists() and _note_of(recording)
    write_atomically(layout.demonstration, content)
    if unchanged:
        write_atomically(layout.processed, dump_json(
            unchanged | {"demonstration": inputs.hash_file(layout.demonstration)}))
    return measured


def _note_of(recording: Recording) -> dict[str, Any] | None:
    """The note of what the demonstration was made from, None where it is of another demonstration."""
    try:
        note = read_json(recording.layout.processed, ProcessedSchema())
        return note if note["demonstration"] == inputs.hash_file(recording.layout.demonstration) else None
    except InputError:
        return None


def _similarity(browser: Browser, recording: Recording, state: TurnState, resources: Resources,
                pointer: tuple[float | None, float | None]) -> float | None:
    """SSIM in grey at the screenshot's size; None where the page or the picture cannot be shown.

    `pointer`: where the person pressed; the page may look as the screenshot only with the pointer there.
    """
    screenshot = decode_picture(recording.blob(state["screenshot"] or ""))
    if screenshot is None or min(screenshot.shape[:2]) < _SMALLEST:
        return None
    with limit_memory(browser, _TIMEOUT_S):
        try:
            context = browser.new_context(offline=True, java_script_enabled=False, service_workers="block",
                                          device_scale_factor=1)
            context.set_default_timeout(_TIMEOUT_S * 1000)
            context.route("**/*", lambda route: route.abort())
            page = context.new_page()
            set_size(page, state)
            page.set_content(render(recording, state, resources), wait_until="load")
            restore(page)
            secrets, width = page.evaluate(_SECRET_BOXES), state["viewport"]["width"]
            value = _compare(page.screenshot(), screenshot, secrets, width)
            x, y = pointer
            if value < _LOW and x is not None and y is not None:
                page.mouse.move(x, y)
                value = max(value, _compare(page.screenshot(), screenshot, secrets, width))
            context.close()
        except PlaywrightError:
            return None
    return value


def _compare(picture: bytes, screenshot: np.ndarray, secrets: list[list[float]], width: float) -> float:
    shown: np.ndarray = np.asarray(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE))
    expected = screenshot if screenshot.ndim == 2 else cv2.cvtColor(screenshot[..., :3], cv2.COLOR_BGR2GRAY)
    if expected.shape[1] > shown.shape[1]:  # of more device pixels
        expected = cv2.resize(expected, shown.shape[::-1], interpolation=cv2.INTER_AREA)
    elif shown.shape != expected.shape:
        shown = cv2.resize(shown, expected.shape[::-1], interpolation=cv2.INTER_AREA)
    scale = expected.shape[1] / max(width, 1)
    for box in secrets:
        left, top, right, bottom = (max(int(value * scale), 0) for value in (
            box[0] - _AROUND_SECRET_PX, box[1] - _AROUND_SECRET_PX, box[2] + _AROUND_SECRET_PX,
            box[3] + _AROUND_SECRET_PX))
        for image in (shown, expected):
            image[top:bottom, left:right] = 0
    return ssim(shown, expected)
