"""Pages that hold what nobody expects: nothing of it stops a recording, and nothing that can be kept is missing."""

import json
import random

import lxml.html
import pytest

from pipeline import process
from pipeline.pages.dom import flatten
from pipeline.verify import verify
from tests.support.samples.sessions import painted

ODD_PAGE = """<!DOCTYPE html><meta charset=utf-8><title>x</title><p id=p style='height:40px'>Text</p>
<input id=i><a id=a>Link</a><form id=f><input name=attributes><input name=parentNode></form><div id=d></div><script>
const texts = TEXTS, [p, i, a, d] = ['p', 'i', 'a', 'd'].map(id => document.getElementById(id));
const may = work => { try { work() } catch {} };
document.title = texts[0];
texts.forEach((text, number) => {
  may(() => p.setAttribute('data-' + number, text));
  may(() => p.setAttribute(text, text));
  may(() => i.setAttribute(['name', 'aria-label', 'placeholder'][number % 3], text));
  may(() => a.setAttribute('href', text));
  may(() => d.append(text, document.createComment(text)));
  may(() => d.append(document.createElement(text)));
  may(() => d.append(document.createElementNS('urn:' + number, 'x:y-' + number)));
  may(() => history.replaceState(null, '', '?' + number + '=' + encodeURIComponent(text) + '#' + text));
  may(() => history.replaceState(null, '', '#' + text));
});
let at = d;
for (let depth = 0; depth < 400; depth++) at = at.appendChild(document.createElement('span'));
const far = d.appendChild(document.createElement('b'));
far.textContent = 'far';
far.style.cssText = 'position:absolute;top:200px;width:1e9px;height:1e9px;transform:scale(1e30)';
</script>"""
WAYS = ["recorder", "extension"]
ODD = [
    "http://[", "https://[::1", "http://[x]/?password=hunter22", "http://a:b:c/", "//[", "https://\u2100.example/",
    "file:///[", "\ud800", "\udfff x", "\u0000", "\u0001", "\u0001\u00017\u0001", "\u00027\u0002",
    "\u00031+1\u0003<b>\u0003", "\u202e abc", "</title><script>", "]]>", "--!>", "<!--", "{{constructor}}", "%s%n%x",
    "%E0%A4%A", "javascript:alert(1)", "data:,x", "__proto__", "constructor", "toString", "-1e999", "NaN", "\u2028",
    "\ufeff", "x" * 100_000, "\U0001f468\u200d\U0001f469", "a\r\nb: c", "(a+)+$", "\\", "'\"`", "data-demotape-uid",
    "data-demotape-mask",
]


@pytest.fixture
def record(request):
    """A way to record, of each recorder."""
    def by(way):
        return request.getfixturevalue("recording_browser" if way == "recorder" else "chrome").record
    return by


@pytest.fixture
def names(recording_browser):
    """Every name of a property that a form or a document has."""
    async def asked():
        page = await recording_browser.browser.new_page()
        found = await page.evaluate("""() => {
          const names = new Set();
          for (let at of [HTMLFormElement.prototype, HTMLDocument.prototype]) {
            for (; at; at = Object.getPrototypeOf(at)) Object.getOwnPropertyNames(at).forEach(name => names.add(name));
          }
          return [...names].sort();
        }""")
        await page.close()
        return found

    return recording_browser.run(asked())


@pytest.mark.parametrize("way", WAYS)
def test_fields_and_pictures_that_are_named_as_properties(names, record, site, way):
    assert {"attributes", "localName", "getAttribute", "documentElement", "children", "nodeType"} <= {*names}
    fields = "".join(f"<input type=hidden name='{name}'>" for name in names)
    inner = f"<form style='padding:10px'>{fields}<button id=deep style='height:30px'>Deep</button></form>"
    pictures = "".join(f"<img name='{name}' width=1 height=1>" for name in names)
    place = "style='position:absolute;left:{}px;top:{}px'"
    site.pages |= {
        "/": "<title>Named</title>" + pictures
             + "<form id=f class=outer style='position:absolute;left:0;top:100px;width:300px;height:200px'>" + fields
             + f"<input name=attributes {place.format(20, 20)}><select name=localName {place.format(20, 60)}>"
               f"<option>one<option>two</select></form><iframe src='/frame' {place.format(0, 320)}></iframe>",
        "/frame": pictures + inner}

    async def user_actions(page):
        await page.mouse.click(200, 250)  # the form itself
        await page.mouse.click(40, 130)
        await page.keyboard.type("ab")
        await page.mouse.move(400, 50)
        await page.mouse.wheel(0, 10)
        deep = await page.frames[1].locator("#deep").bounding_box()
        await page.mouse.click(deep["x"] + 5, deep["y"] + 5)
        await painted(page)

    session = record(way)(user_actions, url=site.origin + "/")
    assert session.problems == [] and "lost_values" not in session.recording.manifest
    acted = [turn for turn in session.turns if turn["intent"] in ("click", "textInput")]
    assert [(turn["intent"], turn["element"]["tag"]) for turn in acted] == [
        ("click", "form"), ("click", "input"), ("textInput", "input"), ("click", "button")]
    form, deep = acted[0]["element"], acted[-1]["element"]
    assert form["attributes"]["class"] == "outer" and form["css"] == "#f"
    assert form["bbox"] == {"x": 0, "y": 100, "width": 300, "height": 200}
    assert form["xpath"] == "/html/body/form"
    assert deep["attributes"]["id"] == "deep" and deep["xpath"] == "/html/body/form/button"
    for turn in acted:
        state = turn["state"]
        assert state["title"] == "Named" and state["screenshot"]
        document = lxml.html.fromstring(flatten(session.recording.blob(state["dom"])).html)
        assert document.xpath(f"count(//*[@*='{turn['element']['uid']}'])") == 1
        assert len(document.xpath("//form[@id='f']/input")) == len(names) + 1
        rows = {row["uid"]: row for row in json.loads(session.recording.blob(state["elements"]))}
        assert rows[form["uid"]]["tag"] == "form" and rows[deep["uid"]]["tag"] == "button"


def odd_page(chosen: random.Random) -> str:
    """A page whose title, attributes, fields and addresses are odd. The texts are put in by a script, as they are."""
    texts = [chosen.choice(ODD) for _ in range(12)]
    return ODD_PAGE.replace("TEXTS", json.dumps(texts).replace("<", "\\u003c"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_odd_texts(record, site, way, seed):
    chosen = random.Random(seed)
    site.pages |= {f"/{number}": odd_page(chosen) for number in range(4)}
    typed = [chosen.choice([text for text in ODD if len(text) < 100]) for _ in range(4)]

    async def user_actions(page):
        for number, text in enumerate(typed):
            await page.goto(f"{site.origin}/{number}")
            await page.mouse.click(20, 20)
            await page.locator("#i").focus()
            await page.keyboard.insert_text(text)
            await page.keyboard.press("x")
            await page.mouse.click(20, 20)
            await painted(page)

    session = record(way)(user_actions)
    assert session.problems == [] and "lost_values" not in session.recording.manifest
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert [turn["element"]["attributes"]["id"] for turn in clicks] == ["p"] * 8
    assert all(turn["state"]["dom"] and turn["state"]["elements"] for turn in clicks)
    assert len([turn for turn in session.turns if turn["intent"] == "load"]) == 4
    assert sum(turn["intent"] == "textInput" for turn in session.turns) == 4
    assert verify(session.recording.layout.root) == []
    assert process(session.recording.layout.root)["turns"]
