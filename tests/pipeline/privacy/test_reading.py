"""What stands only in pictures: read, found also where letters are misread, and gone from every picture."""

import asyncio
import sys
from functools import lru_cache
from time import thread_time

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from curator_web import create_app
from demotape.cli import main
from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.privacy.ocr import reading
from pipeline.privacy.ocr.misread import Values
from pipeline.privacy.ocr.reading import read_lines
from recorder import Recorder, Recording
from recorder.pictures import decode_picture
from schemas import InputError
from tests.support.samples.sessions import painted
from tests.support.services.site import Site

MAIL, PLAIN, SECRET = "ann.lee@shop.example", "Nobody is named here", "Hunter-2207-x"
PAGE = f"""<!DOCTYPE html><title>Letter</title><canvas id=c width=500 height=120></canvas>
<p>Write to ann.boss@shop.example</p><button>Go</button><script>
const ctx = c.getContext('2d'); ctx.font = '20px sans-serif';
ctx.fillText('Mail {MAIL} now', 10, 30); ctx.fillText('{PLAIN}', 10, 70); ctx.fillText('Password: {SECRET}', 10, 110)
</script>"""


@pytest.mark.parametrize("read, known, found", [
    ("Mail ann.1ee@shop.examp1e now", MAIL, True), ("Mail annlee @shopexample", MAIL, True),
    ("Call +49 30 1234 567", "+49301234567", True), ("4111 111 1111 1111", "4111 1111 1111 1111", True),
    ("Mail bob.ray@shop.example now", MAIL, False), ("Call +49 30 7654321", "+49301234567", False), ("", MAIL, False),
    ("Total 12", "12", False)])
def test_a_known_value_is_found_also_misread(read, known, found):
    assert Values([known]).stand_in(read) == found


def test_long_lines_and_values_cost_little():
    values = Values(f"{number:040}x" for number in range(200))
    began = thread_time()
    for _ in range(50):
        values.stand_in("ab12 " * 60)
    assert thread_time() - began < 2


def test_a_recogniser_that_is_not_installed_is_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(InputError, match=r"pictures needs rapidocr; install it with: pip install 'demotape\[ocr\]'"):
        export([], tmp_path / "out", "weblinx", ocr=True)
    create_app(data_dir=tmp_path / "data")
    done = CliRunner().invoke(main, ["export", str(tmp_path / "out"), "--format", "weblinx", "--ocr", "--data",
                                     str(tmp_path / "data")])
    assert done.exit_code == 2
    assert "needs rapidocr" in done.output and not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def source(recording_browser, tmp_path_factory):
    site = Site({"/": PAGE})
    directory = tmp_path_factory.mktemp("ocr") / "rec"

    async def work():
        context = await recording_browser.browser.new_context(viewport={"width": 640, "height": 300})
        async with Recorder(context, directory):
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await painted(tab)
            await asyncio.sleep(0.5)
            await tab.click("button")
        await context.close()

    recording_browser.run(work())
    site.close()
    return Source(process(directory), Recording(directory))


@lru_cache
def said(picture: bytes) -> str:
    pixels = decode_picture(picture)
    assert pixels is not None
    return " ".join(line.text for line in read_lines(pixels)).replace(" ", "")


def test_what_stands_only_in_pictures_is_gone_with_ocr(source, tmp_path):
    without = export([source], tmp_path / "without", "weblinx")
    summary = export([source], tmp_path / "with", "weblinx", ocr=True, set_of_marks=True)
    before = [path.read_bytes() for path in (tmp_path / "without").rglob("*.png")]
    assert before and any(MAIL in said(each) and SECRET in said(each) for each in before)
    after = [path.read_bytes() for path in (tmp_path / "with").rglob("*.png")]
    assert len(after) > len(before)  # with those with marks
    for text in map(said, after):
        assert MAIL not in text and SECRET not in text
        assert "ann.boss" not in text and PLAIN.replace(" ", "") in text
    assert without.redacted == {"email": 1} and summary.redacted == {"email": 2, "token": 1}
    for name, ocr in (("allowed", True), ("unread", False)):
        allowed = export([source], tmp_path / name, "weblinx", ocr=ocr, allow=frozenset({"email", "token"}))
        assert allowed.redacted == {}
    one, other = (sorted((tmp_path / name).rglob("*.png")) for name in ("allowed", "unread"))
    assert one and [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


def test_pictures_are_read_once_and_by_any_number_of_processes_alike(source, tmp_path, monkeypatch):
    def files(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.name != "manifest.json"
                and path.is_file()}

    for format in FORMATS:
        export([source], tmp_path / format, format, ocr=True)
    monkeypatch.setattr(reading, "read_lines", lambda pixels: pytest.fail("read again"))
    export([source], tmp_path / "again", "webdataset", ocr=True)
    monkeypatch.undo()
    export([source], tmp_path / "jobs", "webdataset", ocr=True, jobs=2)
    assert files(tmp_path / "again") == files(tmp_path / "jobs") == files(tmp_path / "webdataset")


def test_an_empty_picture_has_no_lines():
    assert read_lines(np.full((40, 40, 3), 255, np.uint8)) == []
    turned = cv2.putText(np.full((200, 600, 3), 255, np.uint8), "Order 4711", (20, 120), cv2.FONT_HERSHEY_SIMPLEX, 2.0,
                         (0, 0, 0), 3)
    assert [line.text for line in read_lines(turned)] == ["Order 4711"]
