"""Pictures of recordings in the form in which they are served. Captured pictures are hostile: nothing here trusts them.
"""

import re

import cv2

from curator_web.errors import ErrorText, InputError, NotFound
from recorder.pictures import decode_picture
from recorder.reader import Recording

THUMBNAIL_QUALITY = 82
REDUCTION = 8
PART_WIDTH = 240
MAX_SIDE = 100_000  # pixels
MAX_THUMBNAIL_BYTES = 16 << 20
BITMAP = "image/bmp"
MAGIC = (
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    (BITMAP, re.compile(rb"BM")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)


def screenshot(recording: Recording, sha256: str) -> tuple[bytes, str]:
    """A screenshot as it was taken, and its media type; a bitmap as PNG. Raises NotFound."""
    content = blob(recording, sha256)
    media_type = _image_type(content)
    return (_as_png(content), "image/png") if media_type == BITMAP else (content, media_type)


def thumbnail(recording: Recording, sha256: str) -> tuple[bytes, str]:
    """A JPEG or bitmap at an eighth of its size; other pictures as they are. Raises NotFound."""
    content = blob(recording, sha256)
    media_type = _image_type(content)
    if media_type in ("image/jpeg", BITMAP) and len(content) <= MAX_THUMBNAIL_BYTES:
        return _reduced(content) or content, "image/jpeg"
    return content, media_type


def part(recording: Recording, sha256: str, numbers: tuple[int, ...]) -> tuple[bytes, str]:
    """A part of a picture as a JPEG, at most `PART_WIDTH` wide. `numbers`: left, top, width and height in pixels of a
    page, and the page's width, which is that of the picture. Raises InputError for a part outside it, NotFound."""
    content = blob(recording, sha256)
    _image_type(content)
    picture = decode_picture(content)
    if picture is None:
        raise NotFound(ErrorText("this picture is damaged, or too large"))
    left, top, width, height, page = numbers
    if left < 0 or top < 0 or min(width, height, page) < 1 or max(numbers) > MAX_SIDE:
        raise InputError(ErrorText("left, top, width, height, page: must be a part of the picture"))
    scale = picture.shape[1] / page
    left, top, right, bottom = (round(number * scale) for number in (left, top, left + width, top + height))
    cut = picture[top:bottom, left:right]
    if not cut.size:
        raise InputError(ErrorText("left, top, width, height, page: must be a part of the picture"))
    if cut.shape[1] > PART_WIDTH:
        size = PART_WIDTH, max(1, round(cut.shape[0] * PART_WIDTH / cut.shape[1]))
        cut = cv2.resize(cut, size, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", cut, [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_QUALITY])[1].tobytes(), "image/jpeg"


def blob(recording: Recording, sha256: str) -> bytes:
    """A blob's content; raises NotFound."""
    try:
        return recording.blob(sha256)
    except InputError:
        raise NotFound(ErrorText("unknown picture or page in this recording")) from None


def _image_type(content: bytes) -> str:
    """By the first bytes alone; whatever is not a picture is not served as anything."""
    for media_type, magic in MAGIC:
        if magic.match(content):
            return media_type
    raise NotFound(ErrorText("unknown picture or page in this recording"))


def _as_png(content: bytes) -> bytes:
    if (picture := decode_picture(content)) is None:
        raise NotFound(ErrorText("this picture is damaged, or too large"))
    return cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1].tobytes()


def _reduced(content: bytes) -> bytes | None:
    """A JPEG's decoder itself leaves out what a small picture does not need; a bitmap is averaged."""
    jpeg = content.startswith(b"\xff\xd8\xff")
    picture = decode_picture(content, cv2.IMREAD_REDUCED_COLOR_8 if jpeg else cv2.IMREAD_COLOR)
    if picture is None:
        return None
    if not jpeg:
        size = [max(1, side // REDUCTION) for side in picture.shape[1::-1]]
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    done, small = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_QUALITY])
    return small.tobytes() if done else None
