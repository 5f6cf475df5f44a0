"""Pictures that say that they are huge: told by their head, never decoded; in little time and memory."""

import struct
import time
import tracemalloc
import zlib

import cv2
import numpy as np
import pytest

from recorder.pictures import decode_picture, pixels_of
from schemas import limits

SIDE = 12_000


def bitmap(side=SIDE):
    return struct.pack("<2sIIIIiiHHIIiiII", b"BM", 256, 0, 54, 40, side, -side, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(202)


def png(side=SIDE):
    """One bit a pixel."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    lines = zlib.compress(bytes((side + 7) // 8 + 1) * side)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0))
            + chunk(b"IDAT", lines) + chunk(b"IEND", b""))


def jpeg():
    """A small one that says that it is large."""
    content = cv2.imencode(".jpg", np.zeros((16, 16, 3), np.uint8))[1].tobytes()
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + struct.pack(">HH", 60_000, 60_000) + content[place + 4:]


@pytest.mark.parametrize("make", [bitmap, png, jpeg])
def test_what_says_that_it_is_huge_is_not_decoded(make):
    content = make()
    assert len(content) < 100_000 and pixels_of(content) > limits.PIXELS
    tracemalloc.start()
    assert decode_picture(content) is None and decode_picture(content, cv2.IMREAD_REDUCED_COLOR_8) is None
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".bmp", ".png", ".jpg", ".webp"])
def test_every_kind_is_decoded(suffix):
    content = cv2.imencode(suffix, np.full((30, 50, 3), 200, np.uint8))[1].tobytes()
    assert pixels_of(content) == 1500 and decode_picture(content).shape == (30, 50, 3)


@pytest.mark.parametrize("content", [
    b"", b"BM", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP", b"<html>", b"\xff\xd8" + b"\xff" * 10_000_000,
    b"\xff\xd8" + b"\xff\xe0\0\2" * 3_000_000, bitmap()[:30], png()[:20]], ids=range(10))
def test_what_is_no_picture_is_none_soon(content):
    begun = time.thread_time()
    assert decode_picture(content) is None
    assert time.thread_time() - begun < 2
