"""How blobs lie in their files: whatever they hold comes back byte for byte, and damage is told, never followed."""

import hashlib
import struct

import cv2
import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recorder.blobs import Base, Form, compress, decompress, worth_trying

pictures = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda size: st.tuples(*[arrays(np.uint8, (*size, 3)) for _ in range(2)]))
contents = st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda data: b"BM" + data))


def bmp(pixels: np.ndarray) -> bytes:
    return cv2.imencode(".bmp", pixels)[1].tobytes()


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def base_of(content: bytes) -> Base:
    form = Form.from_content(content)
    return Base(name_of(content), form, len(compress(form)))


def read(file: bytes, *others: bytes) -> bytes:
    return decompress(file, {name_of(other): Form.from_content(other) for other in others}.__getitem__).content


def page(seed: int = 0, shape: tuple[int, int] = (300, 403)) -> np.ndarray:
    """A picture with lines of grey text and a coloured bar, as wide as makes its lines be filled up."""
    pixels = np.full((*shape, 3), 255, np.uint8)
    pixels[:20] = (160, 80, 20)
    for line in range(30, shape[0], 12):
        text = "".join(map(chr, np.random.default_rng(seed + line).integers(97, 123, 60)))
        cv2.putText(pixels, text, (5, line), cv2.FONT_HERSHEY_SIMPLEX, 0.3, (30, 30, 30), 1, cv2.LINE_AA)
    return pixels


@given(pictures)
def test_bitmaps_of_all_sizes_come_back(two):
    one, other = map(bmp, two)
    assert read(compress(Form.from_content(one))) == one
    assert read(base_of(one).compress(Form.from_content(other)), one) == other


@given(contents, contents)
def test_anything_comes_back_whatever_it_is_kept_by(one, other):
    assert read(compress(Form.from_content(one))) == one
    assert read(base_of(one).compress(Form.from_content(other)), one) == other


@pytest.mark.parametrize("channels", [1, 4])
def test_a_bitmap_of_another_kind_comes_back_as_it_was(channels):
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, channels), np.uint8)
    content = bmp(pixels)
    assert not Form.from_content(content).is_planes and read(compress(Form.from_content(content))) == content


def test_what_fills_the_lines_up_is_not_lost():
    content = bytearray(bmp(page()))
    content[-1] = 7  # a line of 403 pixels is filled up by three bytes
    assert read(compress(Form.from_content(bytes(content)))) == bytes(content)


def test_a_scrolled_page_costs_what_came_into_sight():
    before = bmp(page())
    pixels = page()
    pixels[20:252] = pixels[68:300]
    pixels[252:] = page(seed=99)[252:]
    after = bmp(pixels)
    kept = base_of(before).compress(Form.from_content(after))
    assert read(kept, before) == after
    assert len(kept) < 0.4 * len(compress(Form.from_content(after)))


def test_a_caret_costs_almost_nothing():
    before = page()
    after = before.copy()
    after[40:50, 100] = 0
    kept = base_of(bmp(before)).compress(Form.from_content(bmp(after)))
    assert read(kept, bmp(before)) == bmp(after) and len(kept) < 200


def test_of_bitmaps_the_one_most_like_it_is_tried_and_no_text():
    bases = [base_of(content) for content in (bmp(page(5)), bmp(page(6)), b"text", bmp(page(7, (200, 403))))]
    assert worth_trying(bases, Form.from_content(bmp(page(5)))) == bases[:1]
    assert worth_trying(bases, Form.from_content(b"other text")) == [bases[2]]


def test_files_of_earlier_recorders_are_read():
    one, other = bmp(page(1)), bmp(page(2))
    plain = zstandard.ZstdCompressor()
    difference = b"BM" + np.subtract(*[np.frombuffer(each, np.uint8)[2:] for each in (other, one)]).tobytes()
    header = struct.pack("<II", 0x184D2A51, 32) + bytes.fromhex(name_of(one))
    kept = decompress(plain.compress(one), {}.__getitem__)
    assert kept.content == one
    assert decompress(header + plain.compress(difference), {name_of(one): kept}.__getitem__).content == other


@pytest.mark.parametrize("content", [b"", b"no bitmap", bmp(page())[:-1], bmp(page()) * 2,
                                     bmp(page())[:18] + struct.pack("<ii", 1 << 30, 1 << 30) + bmp(page())[26:]])
def test_what_is_called_planes_and_is_none_is_damage(content):
    with pytest.raises(ValueError, match="not the planes"):
        read(struct.pack("<II", 0x184D2A52, 0) + zstandard.ZstdCompressor().compress(content))


def test_a_blob_that_is_kept_by_one_in_another_form_is_damage():
    text, picture = base_of(b"text"), base_of(bmp(page()))
    with pytest.raises(zstandard.ZstdError, match="another form"):
        read(text.compress(picture.form), b"text")


@pytest.mark.parametrize("marks", [
    struct.pack("<II", 0x184D2A52, 0) * 2, struct.pack("<II", 0x184D2A5A, 4) + b"more",
    struct.pack("<II", 0x184D2A50, 31) + bytes(31), struct.pack("<II", 0x184D2A50, 1 << 31)])
def test_marks_that_say_nothing_known_are_damage(marks):
    with pytest.raises(zstandard.ZstdError):
        read(marks + compress(Form.from_content(b"text")))
