"""Half of a surrogate pair (a text cut inside an emoji), which no UTF-8 file can hold, costs its character, no more."""

import json

import pytest

from pipeline import process
from pipeline.export import FORMATS, Source, export
from recorder import Recording
from schemas.text import read_well_formed, storable, well_formed
from tests.support.services.site import Site

PAGE = r"""<body><button id=b></button><input id=i maxlength=1><p id=p></p><script>
const half = '\ud83d\ude00'.slice(0, 1);
for (const id of ['b', 'p']) document.getElementById(id).textContent = 'Cut ' + half;
b.setAttribute('aria-label', 'Label ' + half); i.oninput = () => i.value = half; document.title = 'Title ' + half;
</script>"""


@pytest.fixture(scope="module")
def source(recording_browser, tmp_path_factory) -> Source:
    async def user_actions(page):
        await page.click("#b")
        await page.click("#i")
        await page.keyboard.type("x")
        await page.click("#p")

    site = Site({"/": PAGE})
    session = recording_browser.record(user_actions, url=site.origin + "/")
    site.close()
    root = session.recording.layout.root
    process(root)
    recording = Recording(root)
    return Source(json.loads(recording.layout.demonstration.read_bytes()), recording)


def test_such_text_was_recorded(source):
    assert r"\ud83d" in source.recording.layout.events.read_text()


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_format_has_all_turns(source, tmp_path, format):
    counts = []
    for name in ("ascii", "half"):
        text = json.dumps(source.demonstration)
        demonstration = json.loads(text if name == "half" else text.replace(r"\ud83d", "?"))
        summary = export([Source(demonstration, source.recording)], tmp_path / name, format, damaged=[])
        assert not summary.damaged
        counts.append(summary.samples)
    assert counts[0] == counts[1] > 0


def test_well_formed():
    whole = {"a": ["\N{GRINNING FACE} ok", 1, None, True], "b\N{SNOWMAN}": "x"}
    assert well_formed(whole) == whole
    assert well_formed({"a\ud83d": ["\udc00b", "c\0"]}) == {"a\ufffd": ["\ufffdb", "c\0"]}
    assert storable({"a\ud83d": ["\udc00b", "c\0"]}) == {"a\ufffd": ["\ufffdb", "c\ufffd"]}
    for value in (whole, {"a": "\ud83d"}, {"a": "\0"}, {"a": "\N{HANGUL SYLLABLE HA}"}):
        for content in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            assert read_well_formed(content.encode("utf-8", "surrogatepass")) == well_formed(value)
