"""`demotape bundle`: one HTML file that shows runs offline, in a real browser."""

import gzip
import json
import random
import re
from pathlib import Path

import cv2
import numpy
import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline.bundle.encoding import decode, encode
from schemas.files import dump_json
from tests.support.checkout import ROOT
from tests.support.services.site import Site

NOISE = numpy.random.default_rng(3).integers(0, 255, (300, 400, 3), dtype=numpy.uint8)
PICTURE = cv2.imencode(".png", NOISE)[1].tobytes()
SHOP = """<!DOCTYPE html><meta charset=utf-8><title>Lämp shop</title><style>h1 { color: rgb(1, 2, 3) }</style>
<h1>Lamps – 電灯</h1><img id=picture src=/lamp.png width=200 height=150><p>Ask ada@lamps.example or look around</p>
<form method=post action=/orders><label>Lamp <input name=lamp></label><button>Order</button></form>
<script>document.title += " "; window.ran = true</script>"""
DONE = "<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><img src=/lamp.png><p>You ordered it</p></script><!-- x"


async def order(page):
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor </script><!-- lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("You ordered").wait_for()


async def look(page):
    await page.get_by_label("Lamp").click()
    await page.get_by_role("heading").click()


@pytest.fixture(scope="module")
def recordings(recording_browser) -> list[Path]:
    """An order with outcome checks and requests, and another session of the task that goes another way."""
    site = Site({"/": SHOP, "/orders": DONE, "/lamp.png": ("image/png", PICTURE)})
    folders = []
    for user_actions in (order, look):
        session = recording_browser.record(user_actions, url=site.origin + "/", keep={"replayable": True})
        folders.append(session.recording.layout.root)
    site.close()
    (folders[0] / "outcome.json").write_bytes(dump_json({"format": "demotape/outcome", "version": 1, "checks": [
        {"kind": "text", "css": "p", "match": {"includes": [["You ordered"]]}}]}))
    return folders


_PART = re.compile(rb'<script type="application/octet-stream" id="[a-z0-9]+"( data-media="[^"]+")?>(.*?)</script>',
                   re.DOTALL)


def bundle(*words) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["bundle", *map(str, words)])
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def file(recordings, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "runs.html"
    code, output = bundle(*recordings, out)
    assert code == 0, output
    return out


@pytest.fixture
def opened(recording_browser, file):
    """The file in a browser without network, every request that it makes, and what it says on the console."""
    requests, messages = [], []

    async def begin():
        context = await recording_browser.browser.new_context(offline=True, viewport={"width": 1280, "height": 800})
        page = await context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        await page.goto(file.as_uri())
        await page.locator("#turns button").first.wait_for()
        return context, page

    context, page = recording_browser.run(begin())
    yield page
    recording_browser.run(context.close())
    assert [url for url in requests if url.partition(":")[0] not in ("file", "blob", "data", "about")] == []
    assert messages == []


def test_all_bytes_are_read_again_by_a_browser(recording_browser, tmp_path):
    content = bytes(range(256)) * 3 + random.Random(5).randbytes(50_000)
    assert decode(encode(content)) == content and len(encode(content)) < 1.03 * len(content)
    path = tmp_path / "x.html"
    path.write_bytes(b'<!DOCTYPE html><meta charset="windows-1252"><script type="application/octet-stream" id="x">'
                     + encode(content) + b"</script>")

    async def read():
        page = await recording_browser.browser.new_page()
        await page.goto(path.as_uri())
        text = await page.evaluate("document.getElementById('x').textContent")
        letters = await page.evaluate(
            "new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))")
        await page.close()
        return bytes(letters.index(letter) for letter in text)

    assert decode(recording_browser.run(read())) == content


def test_turns_pictures_pages_requests_and_the_outcome_are_shown(recording_browser, opened):
    async def look_at():
        page = opened
        assert "success" in await page.locator("#facts").inner_text()
        kinds = await page.locator("#turns .what").all_inner_texts()
        assert kinds == ["load", "click", "textInput", "click"]
        await page.locator("#turns button").nth(2).click()
        assert "Floor </script><!-- lamp" in await page.locator("#heading").inner_text()
        image = page.locator("#panel img")
        await image.wait_for()
        assert await image.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [800, 600]
        box, target = await image.bounding_box(), await page.locator("#panel .box").bounding_box()
        assert box["x"] <= target["x"] and target["x"] + target["width"] <= box["x"] + box["width"]
        await page.get_by_role("tab", name="Page").click()
        frame = page.frame_locator("#panel iframe")
        await frame.get_by_text("Lamps – 電灯").wait_for()
        assert await frame.locator("h1").evaluate("h1 => getComputedStyle(h1).color") == "rgb(1, 2, 3)"
        assert await frame.locator("img").evaluate("image => image.naturalWidth") == 400
        assert await frame.locator("body").evaluate("() => window.ran") is None
        await page.keyboard.press("ArrowRight")  # from tab to tab
        await page.locator("#panel dl, #panel table").wait_for()
        await page.locator("#turns button").nth(3).click()
        await page.get_by_role("tab", name="Requests").click()
        assert "POST" in await page.locator("#panel table").inner_text()
        await page.get_by_role("tab", name="Outcome").click()
        assert "passes" in await page.locator("#panel").inner_text()

    recording_browser.run(look_at())


def test_keys_and_the_comparison_of_two_runs(recording_browser, opened):
    async def use():
        page = opened
        assert (await page.locator("#heading").inner_text()).startswith("2. click")  # the first that shows a page
        await page.keyboard.press("ArrowUp")
        assert (await page.locator("#heading").inner_text()).startswith("1. load")
        await page.keyboard.press("ArrowDown")
        assert (await page.locator("#heading").inner_text()).startswith("2. click")
        await page.get_by_label("Run").select_option(index=1)
        await page.locator("#turns .differs").wait_for()
        assert (await page.locator("#heading").inner_text()).startswith("3.")  # the first that differs
        before = await page.locator("#turns .differs").evaluate("li => [...li.parentElement.children].indexOf(li)")
        assert before == 2

    recording_browser.run(use())


def test_personal_data_are_redacted_as_in_exports(recordings, file, tmp_path):
    (name, *_) = decoded(file)
    assert "[REDACTED]" in name and "ada@lamps.example" not in name
    assert bundle(recordings[0], tmp_path / "all.html", "--allow", "email")[0] == 0
    assert "ada@lamps.example" in "".join(decoded(tmp_path / "all.html"))


def decoded(file: Path) -> list[str]:
    """All texts of a bundle in one string, then each part."""
    parts = _PART.findall(file.read_bytes())
    assert parts
    texts = [gzip.decompress(decode(content)).decode() for media, content in parts if not media]
    return ["\n".join(texts), *texts]


def test_it_is_hardly_larger_than_what_it_shows(recordings, tmp_path):
    """Also where two runs show the same pictures and pages: these are in the file once."""
    assert bundle(recordings[0], tmp_path / "one.html")[0] == 0
    assert bundle(recordings[0], recordings[0], tmp_path / "two.html")[0] == 0
    one, two = ((tmp_path / name).stat().st_size for name in ("one.html", "two.html"))
    assert two < 1.1 * one
    content = sum(len(decode(content)) for _, content in _PART.findall((tmp_path / "one.html").read_bytes()))
    assert one < 1.2 * content


def test_what_is_left_out(recordings, tmp_path):
    out = tmp_path / "less.html"
    assert bundle(recordings[0], out, "--without", "pages", "--without", "network")[0] == 0
    (runs,) = [json.loads(text) for text in decoded(out)[1:] if text.startswith("[{")]
    assert all("page" not in turn and "requests" not in turn for turn in runs[0]["turns"])


def test_a_folder_of_runs_and_bad_ones(recordings, tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "good").symlink_to(recordings[0])
    (runs / "bad").mkdir()
    (runs / "bad" / "recording.json").write_text("{")
    code, output = bundle(runs, tmp_path / "out.html")
    assert code == 1 and "bad" in output and "1 of 2" in output and (tmp_path / "out.html").exists()
    code, output = bundle(runs / "bad", tmp_path / "none.html")
    assert code and "nothing was written" in output and not (tmp_path / "none.html").exists()
    code, output = bundle(recordings[0], recordings[1])
    assert code and ".html" in output


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_axe_findings_and_no_wider_than_the_window(recording_browser, opened, width, scheme):
    async def findings():
        await opened.set_viewport_size({"width": width, "height": 800})
        await opened.emulate_media(color_scheme=scheme)
        await opened.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
        names = []
        for tab in await opened.get_by_role("tab").all():
            await tab.click()
            result = await opened.evaluate("axe.run(document, { iframes: false })")
            names += [(finding["id"], finding["nodes"][0]["html"][:200]) for finding in result["violations"]]
        assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return names

    assert recording_browser.run(findings()) == []
