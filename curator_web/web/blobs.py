"""Screenshots, thumbnails and DOM snapshots of recordings. Captured pages are hostile: nothing here trusts them."""

import re
from collections.abc import Mapping
from typing import Any

import cv2
from flask import Blueprint, Response, request

from curator_web.errors import InputError, NotFound
from pipeline.pages.rendering import render
from recorder.pictures import decoded, pixels_of
from recorder.reader import Recording
from schemas import limits

from .context import services
from .security import SNAPSHOT_POLICY

blueprint = Blueprint("blobs", __name__)

IMMUTABLE = "private, max-age=31536000, immutable"  # a blob's address is its content's digest
THUMBNAIL_QUALITY = 82
REDUCTION = 8
MAX_THUMBNAIL_BYTES = 16 << 20
BITMAP = "image/bmp"
MAGIC = (
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    (BITMAP, re.compile(rb"BM")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)


@blueprint.get("/blobs/<recording_id>/<sha256>")
def screenshot(recording_id: str, sha256: str) -> Response:
    """A screenshot as it was taken; a bitmap as PNG."""
    content = _blob(_recording(recording_id), sha256)
    media_type = _image_type(content)
    if media_type == BITMAP:
        content, media_type = _as_png(content), "image/png"
    return immutable(content, media_type)


@blueprint.get("/thumbnails/<recording_id>/<sha256>")
def thumbnail(recording_id: str, sha256: str) -> Response:
    """A JPEG or bitmap at an eighth of its size; other pictures as they are."""
    content = _blob(_recording(recording_id), sha256)
    media_type = _image_type(content)
    if media_type in ("image/jpeg", BITMAP) and len(content) <= MAX_THUMBNAIL_BYTES:
        content, media_type = _reduced(content) or content, "image/jpeg"
    return immutable(content, media_type)


@blueprint.get("/snapshot/<recording_id>/<sha256>")
def snapshot(recording_id: str, sha256: str) -> Response:
    """A DOM snapshot, for a sandboxed frame.

    `uid` names the element to outline; from `screenshot`, by the boxes in `elements`, comes what scripts painted in a
    viewport that is `width` wide; `fragment` is that of the page's address.
    """
    recording = _recording(recording_id)
    state: dict[str, Any] = {"dom": sha256, "viewport": {"width": request.args.get("width", 0, int)},
                   "url": f"#{request.args.get('fragment', '')}"}
    state |= {name: request.args[name] for name in ("screenshot", "elements") if name in request.args}
    for name in state.keys() - {"viewport", "url"}:
        _blob(recording, state[name])
    content = render(recording, state, outline=request.args.get("uid", ""))
    response = immutable(content.encode("utf-8", "replace"), "text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = SNAPSHOT_POLICY
    return response


def expect_picture(edit: Mapping[str, Any], recording_id: str) -> None:
    """Raises InputError for a `set_screenshot` whose picture the recording does not have, or that cannot be shown."""
    try:
        found = 0 < pixels_of(_recording(recording_id).blob(edit["screenshot"])) <= limits.PIXELS
    except InputError:
        found = False
    if not found:
        raise InputError("field screenshot: this recording has no such picture")


def _recording(recording_id: str) -> Recording:
    return services().store.open(recording_id)


def _blob(recording: Recording, sha256: str) -> bytes:
    try:
        return recording.blob(sha256)
    except InputError:
        raise NotFound("this recording holds no such picture or page") from None


def _image_type(content: bytes) -> str:
    """By the first bytes alone; whatever is not a picture is not served as anything."""
    for media_type, magic in MAGIC:
        if magic.match(content):
            return media_type
    raise NotFound("this recording holds no such picture or page")


def _as_png(content: bytes) -> bytes:
    if (picture := decoded(content)) is None:
        raise NotFound("this picture is damaged, or too large")
    return cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1].tobytes()


def _reduced(content: bytes) -> bytes | None:
    """A JPEG's decoder itself leaves out what a small picture does not need; a bitmap is averaged."""
    jpeg = content.startswith(b"\xff\xd8\xff")
    picture = decoded(content, cv2.IMREAD_REDUCED_COLOR_8 if jpeg else cv2.IMREAD_COLOR)
    if picture is None:
        return None
    if not jpeg:
        size = [max(1, side // REDUCTION) for side in picture.shape[1::-1]]
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    done, small = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_QUALITY])
    return small.tobytes() if done else None


def immutable(content: bytes, media_type: str) -> Response:
    """An answer that never changes, as its address names its content."""
    response = Response(content, content_type=media_type)
    response.headers["Cache-Control"] = IMMUTABLE
    return response
