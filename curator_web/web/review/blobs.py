"""Screenshots, thumbnails and DOM snapshots of recordings."""

from typing import Any

from flask import Blueprint, Response, request

from curator_web.access.security import SNAPSHOT_POLICY
from curator_web.access.services import services
from curator_web.sandboxed import run_sandboxed
from pipeline.pages.rendering import render
from recorder.reader import Recording

from . import pictures

blueprint = Blueprint("blobs", __name__)

IMMUTABLE = "private, max-age=31536000, immutable"  # a blob's address is its content's digest


@blueprint.get("/blobs/<recording_id>/<sha256>")
def screenshot(recording_id: str, sha256: str) -> Response:
    """A screenshot as it was taken; a bitmap as PNG."""
    return immutable(*run_sandboxed(pictures.screenshot, services().store.open(recording_id), sha256))


@blueprint.get("/thumbnails/<recording_id>/<sha256>")
def thumbnail(recording_id: str, sha256: str) -> Response:
    """A JPEG or bitmap at an eighth of its size, other pictures as they are; or of any picture a part, if the address
    names one (`left`, `top`, `width`, `height`, in pixels of a page that is `page` wide)."""
    recording, names = services().store.open(recording_id), ("left", "top", "width", "height", "page")
    if "page" not in request.args:
        return immutable(*run_sandboxed(pictures.thumbnail, recording, sha256))
    numbers = tuple(request.args.get(name, -1, int) for name in names)
    return immutable(*run_sandboxed(pictures.part, recording, sha256, numbers))


@blueprint.get("/snapshot/<recording_id>/<sha256>")
def snapshot(recording_id: str, sha256: str) -> Response:
    """A DOM snapshot, for a sandboxed frame.

    `uid` names the element to outline; from `screenshot`, by the boxes in `elements`, comes what scripts painted in a
    viewport that is `width` wide; `fragment` is that of the page's address.
    """
    state: dict[str, Any] = {"dom": sha256, "viewport": {"width": request.args.get("width", 0, int)},
                   "url": f"#{request.args.get('fragment', '')}"}
    state |= {name: request.args[name] for name in ("screenshot", "elements") if name in request.args}
    content = run_sandboxed(_page, services().store.open(recording_id), state, request.args.get("uid", ""))
    response = immutable(content, "text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = SNAPSHOT_POLICY
    return response


def _page(recording: Recording, state: dict[str, Any], outline: str) -> bytes:
    for name in state.keys() - {"viewport", "url"}:
        pictures.blob(recording, state[name])
    return render(recording, state, outline=outline).encode("utf-8", "replace")


def immutable(content: bytes, media_type: str) -> Response:
    """An answer that never changes, as its address names its content."""
    response = Response(content, content_type=media_type)
    response.headers["Cache-Control"] = IMMUTABLE
    return response
