"""Rules that Python and JavaScript both have: a table of cases each (tests/cases); what both share is one file."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page

from pipeline.pages import targets
from pipeline.pages.dom import parse
from recorder.browser.capture_script import FILES
from recorder.building.frame_merging import insert_uids
from recorder.building.live_list import LiveList
from recorder.building.secret_positions import SecretFieldPositions
from recorder.privacy.secret_values import Secrets
from schemas import INTENTS, REDACTED, UID_ATTRIBUTE
from schemas.formats.arguments import ARGUMENTS
from schemas.secret_digests import digest_of
from schemas.write_shared import TARGET, script
from tests.support.checkout import ROOT

CASES = ROOT / "tests" / "cases"
EXTENSION = ROOT / "extension"


def cases(name: str):
    """One test for each row of a table."""
    rows = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return pytest.mark.parametrize("case", rows, ids=[row["case"] for row in rows])


@pytest.fixture(scope="module")
def page(browser: Browser):
    """A page with the capture script and the extension's modules, each under the name of its file."""
    page = browser.new_page()
    add_scripts(page)
    yield page
    page.close()


def add_scripts(page: Page) -> None:
    page.add_script_tag(content=(EXTENSION / "shared.js").read_text(encoding="utf-8"))
    for name in ("live_list", "secret_positions", "scrypt", "normalised_text", "secret_values"):
        source = (EXTENSION / "offscreen" / f"{name}.js").read_text(encoding="utf-8")
        plain = re.sub(r"(?m)^import .*$", "", source).replace("export ", "")
        exported = re.search(r"export (?:class|(?:async )?function) (\w+)", source)[1]
        page.add_script_tag(content=f"{{ {plain}; globalThis.{exported} = {exported}; }}")


@cases("live_list")
def test_the_live_list(page, case):
    lines = LiveList()
    for event in case["events"]:
        lines.add_event({name: value for name, value in event.items() if name != "n"} | {"seq": event["n"]})
    assert [[line["event"], line["word"], line["name"]] for line in lines._lines] == case["lines"]
    assert page.evaluate("""(events) => {
      const lines = new LiveList();
      for (const event of events) {
        const gesture = event.gesture === null ? null : String(event.gesture);
        lines.addEvent({ ...event, id: String(event.n), gesture });
      }
      return lines.all().map(({ event, word, name }) => [event, word, name]);
    }""", case["events"]) == case["lines"]


@cases("secret_places")
def test_where_secrets_stood(page, case):
    places = SecretFieldPositions()
    for time, boxes in case["told"]:
        if boxes is None:
            places.leave()
        else:
            places.add_report(time, boxes)
    for time in case["confirmed"]:
        places.confirm(time)
    assert [places.covers(case["time"]), places.during(case["time"], 600)] == [case["covers"], case["boxes"]]
    assert page.evaluate("""({ told, confirmed, time }) => {
      const places = new SecretFieldPositions();
      for (const [at, boxes] of told) boxes ? places.addReport(at, boxes) : places.leave();
      for (const at of confirmed) places.confirm(at);
      return [places.covers(time), places.during(time, 600)];
    }""", case) == [case["covers"], case["boxes"]]


@cases("secret_values")
def test_secret_values(page, case):
    secrets = Secrets()
    for field, value in case["told"]:
        secrets.add_field_value(field, value)
    ways = {"text": secrets.in_text, "markup": secrets.in_markup, "address": secrets.in_address}
    for way, clean in ways.items():
        assert [[given, clean(given)] for given, _ in case[way]] == case[way], way
    assert page.evaluate("""({ told, text, markup, address }) => {
      const secrets = new Secrets();
      for (const [field, value] of told) secrets.addFieldValue(field, value);
      return {
        text: text.map(([given]) => [given, secrets.inText(given)]),
        markup: markup.map(([given]) => [given, secrets.inMarkup(given)]),
        address: address.map(([given]) => [given, secrets.inAddress(given)]),
      };
    }""", case) == {way: case[way] for way in ways}


def test_digests_of_secrets(browser, site):
    site.pages["/"] = "<title>Any</title>"
    page = browser.new_page()
    page.goto(site.origin + "/")  # browsers make digests on pages of safe origins only
    told = [["f", "hunter22!"], ["f", "zwölf Boxkämpfer"], ["g", "password"], ["h", "short"], ["i", "x" * 201],
            ["k", "パスワード1"], ["k", ""]]
    secrets = Secrets()
    for field, value in told:
        secrets.add_field_value(field, value)
    add_scripts(page)
    script = """async (told) => {
      const secrets = new Secrets();
      for (const [field, value] of told) secrets.addFieldValue(field, value);
      return secrets.digests();
    }"""
    theirs, again, nothing = page.evaluate(script, told), page.evaluate(script, told), page.evaluate(script, told[2:4])
    page.close()
    values = ("hunter22!", "zwölf Boxkämpfer", "パスワード1")
    for digests in (theirs, again, secrets.facts()["secret_digests"]):
        assert digests["digests"] == sorted(digest_of(value, digests["salt"]) for value in values)
    assert theirs["salt"] != again["salt"] and nothing is None


@cases("element_paths")
def test_paths_of_elements(browser, case):
    page = browser.new_page()
    page.set_content(f"<!DOCTYPE html><html><head></head><body>{case['html']}</body></html>")
    page.evaluate("\n".join((EXTENSION / "capture" / name).read_text(encoding="utf-8") for name in FILES))
    selector = case.get("select", "#here")
    expected = {name: case[name] for name in ("xpath", "css", "text")}
    described, source = page.evaluate("""(selector) => {
      const { xpath, css, text, uid } = demotape.elements.describe(document.querySelector(selector));
      const { root, chunks } = demotape.snapshot.seal(demotape.snapshot.take());
      return [{ xpath, css, text }, uid];
    }""", selector)
    assert described == expected
    document = page.evaluate("""([selector, uid, name]) => {
      const element = document.querySelector(selector);
      element.setAttribute(name, uid); // where a snapshot has it
      const text = document.documentElement.getHTML({ serializableShadowRoots: true,
        shadowRoots: Array.from(document.querySelectorAll("*"), (each) => each.shadowRoot).filter(Boolean) });
      return `<!DOCTYPE html><html>${text}</html>`;
    }""", [selector, source, UID_ATTRIBUTE])
    found = targets._by_uid(parse(document.encode()), source)
    assert {"xpath": targets._xpath(found), "css": targets._css(found), "text": targets._text(found)} == expected
    assert page.evaluate("([css, selector]) => document.querySelector(css) === document.querySelector(selector)",
                         [case["css"], selector])
    page.close()


def test_what_is_shared_is_declared_once():
    assert TARGET.read_text(encoding="utf-8") == script(), "python -m schemas.write_shared"
    for path in [*EXTENSION.rglob("*.js"), *(ROOT / "recorder").rglob("*.py"), *(ROOT / "pipeline").rglob("*.py"),
                 *(ROOT / "curator_web").rglob("*.py")]:
        if path != TARGET and "migrations" not in path.parts:
            source = path.read_text(encoding="utf-8")
            assert f'"{REDACTED}"' not in source and f'"{UID_ATTRIBUTE}"' not in source, path


def test_every_intent_is_whole():
    families = set(re.findall(r"\.family-(\w+)", (ROOT / "curator_web/web/static/base.css").read_text()))
    assert {intent.family for intent in INTENTS.values()} <= families
    assert INTENTS.keys() == ARGUMENTS.keys() | {"say"}
    assert all(intent.label for intent in INTENTS.values())


def test_plain_texts_get_their_uids(page):
    """What the extension numbers before it masks is what the receiver would number."""
    text = "<div>\x037+1,12+3\x03<p>a<b title='&lt;i'>b</b><i>c</i><br></p>\x03</div>\x031+1\x03<u>d</u>\x03"
    source = (EXTENSION / "offscreen" / "numbering.js").read_text(encoding="utf-8")
    page.add_script_tag(content=f"{{ {re.sub(r'(?m)^import .*$', '', source).replace('export function', 'function')}"
                                "; globalThis.numbered = numbered }")
    assert page.evaluate("text => numbered(text, 'group')", text) == insert_uids(text, "group")
