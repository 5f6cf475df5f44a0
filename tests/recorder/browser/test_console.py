"""What pages write to the console: kept from every tab and frame, within limits, without secrets or a trace."""

import json
from collections import Counter

import pytest

from recorder.browser.traffic.console import text_of
from recorder.building.console_log import ConsoleLog, ConsoleMessage
from recorder.privacy.secret_values import Secrets
from schemas import limits

MANY = """console.log('hello', {a: 1, o: {b: 2}, password: 'word-1', f() {}, get g() { window.trapped = true; }});
console.warn('%s is %d, %o%c', 'Bob', 42, [1, 'a'], 'color: red'); console.error('bad', new Map([['k', 1]]), null,
  true); console.debug('fine'); console.info('note', undefined, 5n); console.assert(false, 'asserted'); console.clear();
console.log('x'.repeat(150), {long: 'y'.repeat(150)});
new Worker(URL.createObjectURL(new Blob(["console.log('from a worker'); postMessage(1)"]))).onmessage =
  () => { window.answered = true; };
setTimeout(() => { throw new Error('boom'); }); Promise.reject('rejected');"""


async def come_to_rest(page):
    """Wait until what the page's scripts have put off until now is done; the end of a recording hears the rest."""
    await page.evaluate("new Promise(done => setTimeout(done))")


@pytest.fixture
def written(recording_browser, site):
    """Records what a page writes, and what is done in it; returns the lines that were kept."""
    def record(script: str, act=come_to_rest, markup: str = "", **options):
        site.pages["/"] = f"<title>Page</title>{markup}<script>{script}</script>"
        session = recording_browser.record(act, url=site.origin + "/", keep={"console": True}, **options)
        assert not session.problems
        return session, sorted(session.recording.console(), key=lambda line: line["time"])

    return record


def test_levels_texts_and_places_are_kept(written, site):
    async def until_the_worker_wrote(page):
        await page.wait_for_function("window.answered")
        await come_to_rest(page)
        return await page.evaluate("window.trapped")

    session, lines = written(MANY, until_the_worker_wrote)
    assert session.answer is None  # no getter was called
    calls = [(line["level"], line["text"]) for line in lines if line["kind"] == "call"]
    assert calls[:6] == [
        ("log", "hello {a: 1, o: Object, password: [REDACTED], f: ƒ, g: (…)}"),
        ("warning", 'Bob is 42, Array(2) [1, "a"]'), ("error", 'bad Map(1) {"k" => 1} null true'), ("debug", "fine"),
        ("info", "note undefined 5n"), ("error", "asserted")]
    assert calls[6:] == [("log", "x" * 150 + ' {long: "…"}')]  # of which the browser tells both ends only
    thrown = [line for line in lines if line["kind"] == "uncaught"]
    assert [line["text"].partition("\n")[0] for line in thrown] == [
        "Uncaught Error: boom", "Uncaught (in promise) rejected"]
    assert all(line["level"] == "error" for line in thrown)
    assert [line["text"] for line in lines if line["kind"] == "browser" and line["level"] != "error"] == [
        "from a worker"]
    first = lines[0]
    assert (first["url"], first["script"], first["line"], first["tab"]) == (site.origin + "/",) * 2 + (1, 1)
    assert first["column"] > 1 and 0 < first["time"] < 10


def test_new_pages_popups_and_frames_of_other_sites_are_heard_from_the_first_instruction(written, site):
    site.pages |= {"/popup": "<title>Popup</title><script>console.log('popup')</script>",
                   "/frame": "<script>console.log('frame'); frame.gone()</script>",
                   "/new": "<script>console.log('new')</script>"}

    async def act(page):
        await page.frames[1].wait_for_load_state()
        async with page.expect_popup() as popup:
            await page.click("a")
        await (await popup.value).wait_for_load_state()
        await (await page.context.new_page()).goto(site.origin + "/new")

    other = site.origin.replace("127.0.0.1", "localhost")
    _, lines = written("console.log('top')", act, f"<a target=_blank href=/popup>Open</a><iframe src={other}/frame>"
                       "</iframe>")
    told = {(line["tab"], line["text"].partition("\n")[0]): line for line in lines if line["kind"] != "browser"}
    assert sorted(told) == [(1, "Uncaught ReferenceError: frame is not defined"), (1, "frame"), (1, "top"),
                            (2, "popup"), (3, "new")]
    assert told[1, "frame"]["script"] == other + "/frame" and told[1, "frame"]["url"] == site.origin + "/"
    assert told[2, "popup"]["url"] == site.origin + "/popup"


def test_what_was_typed_in_secret_is_masked_letter_by_letter(written, site):
    async def act(page):
        await page.click("input")
        await page.keyboard.type("kumquat-9")
        await come_to_rest(page)

    session, lines = written("""p.oninput = () => { console.log(p.value); console.log({value: p.value}, JSON.stringify(
        {in: 'a', value: p.value})); console.log('x'.repeat(1990) + ' ' + p.value);
        console.log('/?q=' + encodeURI(p.value)); };""", act, "<input id=p type=password>")
    kept = session.recording.layout.console.read_text()
    assert len(lines) > 30 and "[REDACTED]" in kept
    assert not [end for end in range(3, 10) if "kumquat-9"[:end] in kept]


def test_a_page_that_writes_without_end_is_held_to_the_limits(written):
    session, lines = written("""for (let i = 0; i < 2000; i++) console.log(i, {i}); console.error('seen');""")
    kept = [line for line in lines if line["kind"] == "call" and line["level"] == "log"]
    assert max(Counter(int(line["time"]) for line in kept).values()) == limits.CONSOLE_SECOND
    assert "seen" in [line["text"] for line in lines]
    assert session.recording.manifest["console_left_out"] == 2000 - len(kept)


def test_a_very_long_text_is_cut(written):
    _, lines = written("console.log('begin ' + 'z'.repeat(3_000_000)); console.log('y'.repeat(2000))")
    texts = [line["text"] for line in lines if line["kind"] == "call"]
    assert len(texts[0]) == limits.CONSOLE_TEXT and texts[0].startswith("begin zz") and texts[0].endswith("z…")
    assert texts[1] == "y" * 2000


def test_nothing_is_kept_of_the_recorders_own_worlds_or_without_the_option(recording_browser, site, written):
    async def act(page):
        session = await page.context.new_cdp_session(page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "demotape"})
        await session.send("Runtime.evaluate", {
            "contextId": world["executionContextId"],
            "expression": "console.log('of ours'); setTimeout(() => { throw new Error('of ours'); }); 1"})
        await come_to_rest(page)

    _, lines = written("console.log('theirs')", act)
    assert [line["text"] for line in lines if line["kind"] != "browser"] == ["theirs"]
    plain = recording_browser.record(act, url=site.origin + "/").recording
    assert not plain.layout.console.exists() and list(plain.console()) == []


def test_of_a_page_that_was_open_before_only_what_it_writes_from_then_on_is_kept(recording_browser, site):
    site.pages["/"] = "<script>console.log('before'); console.error('before')</script>"

    async def open_before(context):
        await context.pages[0].goto(site.origin + "/")

    recording = recording_browser.record(lambda page: page.evaluate("console.log('later')"), prepare=open_before,
                                         keep={"console": True}).recording
    assert [(line["text"], line["url"]) for line in recording.console()] == [("later", site.origin + "/")]


TRAPS = """window.sprung = [];
const trap = (name, value) => ({configurable: true, get() { sprung.push(name); return value; }});
for (const [name, object, property] of [['stack', new Error('a'), 'stack'], ['message', new Error('b'), 'message'],
  ['plain', {}, 'x'], ['tag', {}, Symbol.toStringTag], ['flags', /x/, 'flags'],
  ['id', document.createElement('p'), 'id'],
  ['length', [], 'x'], ['name', function () {}, 'name'], ['constructor', {}, 'constructor']])
  console.log(Object.defineProperty(object, property, trap(name, 'x')));
console.log(new Proxy({}, {ownKeys() { sprung.push('keys'); return []; }, get() { sprung.push('proxy'); }}));
setTimeout(() => { throw Object.defineProperty(new Error('c'), 'message', trap('thrown', 'x')); });"""


def test_a_page_cannot_tell_whether_its_console_is_kept(recording_browser, site):
    site.pages["/"] = f"<script>{TRAPS}</script>"

    async def sprung(page):
        await come_to_rest(page)
        return await page.evaluate("sprung.join()")

    without, kept = (recording_browser.record(sprung, url=site.origin + "/", keep={"console": console}).answer
                     for console in (False, True))
    assert kept == without and not {"plain", "keys", "proxy", "stack"} & set(kept.split(","))


def test_limits_are_counted_by_tab_and_errors_by_themselves(monkeypatch):
    kept: list[dict] = []
    console = ConsoleLog(Secrets(), lambda job: job(), lambda epoch: None if epoch > 8 else epoch)
    writer = type("Writer", (), {"console": lambda _, line: kept.append(line), "update": lambda _, **facts: None})()
    console.begin(writer, {})
    monkeypatch.setattr(limits, "CONSOLE_LINES", 120)

    def write(tab: int, level: str, at: float, times: int) -> int:
        before = len(kept)
        for _ in range(times):
            console.add_line(at, tab, "https://a.example/?token=abc", "call", level, lambda: ConsoleMessage("x\ud800"))
        console.release(all_=True)
        return len(kept) - before

    assert [write(1, "log", 1.0, 60), write(1, "error", 1.1, 60), write(2, "log", 1.9, 60), write(1, "log", 2.0, 60),
            write(1, "error", 9.0, 60)] == [50, 50, 50, 20, 0]  # the last in a pause
    assert console.facts() == {"console_left_out": 70}
    assert json.loads(json.dumps(kept[0]))["text"] == "x\ufffd"
    assert kept[0]["url"] == "https://a.example/?token=%5BREDACTED%5D"


@pytest.mark.parametrize("length", [1, limits.CONSOLE_TEXT - 5, limits.CONSOLE_TEXT, limits.CONSOLE_TEXT + (1 << 14)])
def test_no_part_of_a_secret_stands_at_the_end_of_what_was_cut(length):
    kept: list[dict] = []
    secrets = Secrets()
    secrets.add_field_value("field", "s3cret-" * 20)
    console = ConsoleLog(secrets, lambda job: job(), lambda epoch: epoch)
    console.begin(type("Writer", (), {"console": lambda _, line: kept.append(line)})(), {})
    console.add_line(1.0, 1, "", "call", "log", lambda: ConsoleMessage(("a" * (length - 1) + " " + "s3cret-" * 20) * 2))
    console.release(all_=True)
    assert "s3c" not in kept[0]["text"]


@pytest.mark.parametrize("arguments, text", [
    ([], ""), ([{"type": "string", "value": "100%d %"}], "100%d %"),
    ([{"type": "string", "value": "%s %s"}, {"type": "string", "value": "%s"}], "%s %s"),
    ([{"type": "string", "value": "%%"}, {"type": "number", "value": 1, "description": "1"}], "% 1"),
    ([{"type": "object", "subtype": "null", "value": None}, {"type": "boolean", "value": False}], "null false"),
    ([{"type": "symbol", "description": "Symbol(q)"}], "Symbol(q)"),
])
def test_arguments_are_shown_as_a_console_does(arguments, text):
    assert text_of(arguments) == text
