"""The cached text of a page in a real Chromium: the same whether the browser wrote parts of it or the script did."""

import pytest
from playwright.sync_api import Browser, Page

from recorder.browser.capture_script import _FOLDER as CAPTURE
from recorder.browser.capture_script import FILES
from recorder.building.frame_merging import assemble, insert_uids, merge
from recorder.building.tab_state import TabState

PAGE = """<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>All &amp; sundry</title>
<style>p > b { color: red }</style><script>var unused = "<p>";</script></head><body>
<ul><li>One<li>Two <b title='a "quoted" <value> &amp; more'>bold&nbsp;text</b> &lt;not a tag&gt;<li><i></i><br><hr></ul>
<table><tr><td>1<td>2<tr><td>3<td><input value=x><select><option>a<option selected>b</select></table>
<div><p>before<!-- a comment --><em>after</em></p><pre>
no empty line</pre><pre>

the first line is empty</pre><pre><b>
bold</b></pre><p odd<name=1>odd</p><p data-demotape-x=1 class=y>another's mark</p></div>
<svg viewBox="0 0 9 9"><use xlink:href="#a"/><foreignObject><p>in svg</p></foreignObject><path d="M0 0"/></svg>
<section data-demotape-mask><p>secret</p></section><picture><source srcset="data:,"><img alt="p"></picture>
<template><p>inert</p></template><noscript><p>no</p></noscript><div id=host>light</div>
<iframe srcdoc="<ul><li>inner <b>frame</b></ul><p>x"></iframe><article><h2>Head</h2>
""" + "<p>Many <a href='?a=1&b=2'>links</a> and <span>words</span>.</p>\n" * 150 + "</article></body></html>"

CHANGE = """(seed) => {
  let state = seed * 7919 + 1;
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  const all = [...document.body.querySelectorAll('*')];
  const some = () => all[random(all.length)];
  const closed = 'input,select,option,iframe,script,noscript,template,br,hr,img,source,[data-demotape-mask] *,svg *';
  const holder = () => { const at = some(); return at.matches(closed) ? document.body : at; };
  switch (random(7)) {
    case 0: holder().append('text & <' + seed + '>\\u00a0'); break;
    case 1: some().setAttribute('data-n', '"<' + seed + '>&\\u0003'); break;
    case 2: if (all.length > 50) some().remove(); break;
    case 3: {
      const at = some(), to = holder();
      if (!at.contains(to) && !at.matches('option')) to.append(at);
      break;
    }
    case 4:
      holder().insertAdjacentHTML('beforeend', `<div><p>new <b>${seed}</b><!-- c --></p><ul><li>1<li>2</ul></div>`);
      break;
    case 5: {
      const at = document.createElement('div');
      at.innerHTML = '<p>slotted</p>';
      holder().append(at);
      at.attachShadow({ mode: 'open' }).innerHTML = `<b>shadow ${seed}</b><slot></slot>`;
      break;
    }
    case 6: some().closest('p,li,td')?.replaceChildren(document.createComment('c'), 'only text', 'and more'); break;
  }
}"""
TAKE = """() => {
  demotape.snapshotCache.update();
  const { root, chunks } = demotape.snapshot.seal({ root: demotape.snapshotCache.take(), rows: [] });
  return [root, chunks, demotape.shared.prefix];
}"""


def show(page: Page, html: str) -> Page:
    """A page that holds the capture script."""
    page.set_content(html)
    page.add_script_tag(content="\n".join((CAPTURE / name).read_text(encoding="utf-8") for name in FILES))
    return page


class CachedPage:
    """A page with the capture script, as its receiver sees it."""

    def __init__(self, page: Page, plain: bool):
        self.page, self.chunks, self.plain_chunks = page, {}, 0
        show(page, PAGE)
        page.evaluate("demotape.idleSnapshot.onIdle = () => {}")
        if not plain:
            page.evaluate("demotape.fastSerialize.text = () => null")
        page.evaluate("document.querySelector('script:last-of-type').remove()")

    def text(self) -> str:
        root, chunks, prefix = self.page.evaluate(TAKE)
        self.plain_chunks += sum("\x03" in text for _, text in chunks)
        self.chunks |= {number: insert_uids(text, prefix) for number, text in chunks}
        return assemble(self.chunks, root).replace(prefix, "group")


@pytest.mark.parametrize("round_", range(3))
def test_what_the_browser_writes_is_what_the_script_writes(browser: Browser, round_):
    context = browser.new_context()
    ours, theirs = (CachedPage(context.new_page(), plain) for plain in (False, True))
    assert theirs.text() == ours.text()
    assert theirs.plain_chunks and not ours.plain_chunks
    assert "secret" not in theirs.text()
    for seed in range(60):
        for cached in (ours, theirs):
            cached.page.evaluate(CHANGE, round_ * 100 + seed)
        assert theirs.text() == ours.text(), f"after change {seed}"
    context.close()


def test_a_preformatted_text_keeps_its_first_line_break_and_gets_no_other(browser: Browser):
    context = browser.new_context()
    for plain in (False, True):
        cached = CachedPage(context.new_page(), plain)
        cached.page.evaluate("""() => {
          const split = document.createElement("pre");
          split.append("", "\\n", "in two texts");
          document.body.append(split);
        }""")
        texts = "(page) => [...page.querySelectorAll('pre')].map((each) => each.textContent)"
        before = cached.page.evaluate(f"() => ({texts})(document)")
        read = cached.page.evaluate(
            f"(html) => ({texts})(new DOMParser().parseFromString(html, 'text/html'))", cached.text())
        assert read == before == ["no empty line", "\nthe first line is empty", "\nbold", "\nin two texts"]
    context.close()


REACT = """() => {
  window.heard = [];
  const tellAhead = (frame_group, chunks, rows) => heard.push({ chunks, rows });
  demotape.events.start((message) => message.type === 'pointerdown' && heard.push(message.snapshot), null, tellAhead);
  addEventListener('click', () => document.body.prepend(...Array.from({ length: 300 }, (_, number) => {
    const line = document.createElement('p');
    line.textContent = `line ${number} of the answer to the click`;
    return line;
  })));
}"""


def test_what_an_action_changed_is_with_the_receiver_before_the_next_action(browser: Browser):
    context = browser.new_context()
    page = show(context.new_page(), "<body>" + "<p>one of many lines that fill some chunks</p>" * 200)
    page.evaluate(REACT)
    page.mouse.click(400, 300)
    page.wait_for_function("heard.some(({ frame_group, chunks }) => !frame_group && "
                           "chunks.some(([, text]) => text.includes('line 299 of')))")
    page.mouse.click(400, 300)
    heard = page.evaluate("heard")
    first, at = (number for number, each in enumerate(heard) if "frame_group" in each)
    ahead, second = heard[first + 1:at], heard[at]  # after it comes what the second click changed
    assert "line 299 of the answer" in "".join(text for each in ahead for _, text in each["chunks"])
    assert second["chunks"] == [] and second["rows"]
    assert all(isinstance(row, int) for row in second["rows"]), "a row that was sent is told by its number"
    context.close()


HOLD = "() => { (window.held ??= []).push(demotape.snapshot.take()); }"
AHEAD = "() => [demotape.shared.prefix, ...Object.values(demotape.snapshot.ahead(demotape.snapshot.take()))]"
LATE = 4  # changes after which a snapshot is sent: as when the pointer has rested


def test_what_the_page_no_longer_needs_is_forgotten_and_nothing_else(browser: Browser):
    context = browser.new_context()
    ours, theirs = (CachedPage(context.new_page(), plain=True) for _ in range(2))
    session, tab = context.new_cdp_session(theirs.page), TabState(1, "", lambda _tab, _frame: None)
    theirs.page.evaluate("demotape.sendAheadParts = () => {}")
    texts, forgotten = [], 0
    for seed in range(80):
        for cached in (ours, theirs):
            cached.page.evaluate(CHANGE, seed)
        texts.append(ours.text())
        theirs.page.evaluate(HOLD)
        if seed % 3 == 0:
            session.send("HeapProfiler.collectGarbage")
        if seed % 4 == 0:
            tab.add_parts(*theirs.page.evaluate(AHEAD))
        if seed >= LATE:
            snapshot = theirs.page.evaluate("demotape.snapshot.seal(held.shift())")
            tab.apply_snapshot((), snapshot, float(seed))
            forgotten += len(snapshot.get("gone", {}).get("chunks", []))
            document, rows = merge(tab.frame_groups)
            assert document.replace(snapshot["frame_group"], "group") == texts[seed - LATE], f"change {seed - LATE}"
            assert rows
    assert forgotten > 50
    context.close()


CHANGE_OFTEN = """() => {
  const cells = [...document.querySelectorAll('td')];
  for (let time = 0; time < 1000; time++) {
    cells[(time * 7919) % cells.length].textContent = `price ${time}`;
    demotape.snapshotCache.update();
    demotape.snapshotCache.take();
  }
}"""


def test_a_page_that_changes_all_the_time_takes_no_more_memory_the_longer_it_is_open(browser: Browser):
    context = browser.new_context()
    page = show(context.new_page(), "<table>" + "<tr><td>name<td>1</tr>" * 800)
    session = context.new_cdp_session(page)

    def memory() -> float:
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"] / 1e6

    page.evaluate(CHANGE_OFTEN)
    before = memory()
    page.evaluate(CHANGE_OFTEN)
    assert memory() < before + 1, "MB"
    context.close()


LINKS = """<!DOCTYPE html><title>Links</title><style>a:hover { color: red }</style>
<p><a id=one href=/next>One</a> <a id=two href=/next>Two</a> <button id=three>Three</button>
<form action=/next><input id=field></form>
<script>addEventListener('click', (event) => event.preventDefault());
addEventListener('submit', (event) => event.preventDefault())</script>"""
HEARD = """() => {
  globalThis.heard = { pressed: null, rested: [], looks: 0, during: 0 };
  for (const type of ["pointerdown", "keydown"]) {
    addEventListener(type, () => (heard.pressed = performance.now()), true);
  }
  const { onIdle, capture } = demotape.idleSnapshot;
  demotape.idleSnapshot.onIdle = (shown) => (heard.rested.push(performance.now()), onIdle(shown));
  demotape.idleSnapshot.capture = () => (heard.looks++, capture());
  addEventListener("pointermove", () => (heard.before = heard.looks), true);
  demotape.events.start(() => {});
  addEventListener("pointermove", () => (heard.during += heard.looks - heard.before), true);
}"""
LOOKED_AT = "heard.rested.at(-1) > heard.pressed"  # since the last press


@pytest.mark.parametrize("press", [
    pytest.param(lambda page: page.click("#one"), id="link"),
    pytest.param(lambda page: (page.click("#field"), page.wait_for_function(LOOKED_AT), page.keyboard.press("Enter")),
                 id="enter")])
def test_the_next_document_comes_before_looks_at_this_one(browser: Browser, press):
    """After a press that may lead away, nothing is put together while a server or the next page needs the machine."""
    page = browser.new_page()
    show(page, LINKS).evaluate(HEARD)
    page.wait_for_function("heard.rested.length")
    press(page)
    page.wait_for_function(LOOKED_AT)
    assert page.evaluate("heard.rested.find((time) => time > heard.pressed) - heard.pressed") >= 190
    page.close()


def test_who_presses_at_once_does_not_wait_for_a_look_at_the_hover(browser: Browser):
    """The page is looked at with the pointer where it is, but not before the page hears of it."""
    page = browser.new_page()
    show(page, LINKS).evaluate(HEARD)
    page.hover("#three")
    page.wait_for_function("demotape.idleSnapshot.lastSeen.snapshot"
                           " && demotape.now() - demotape.idleSnapshot.lastSeen.capturedAt > 200")
    page.hover("#two")
    page.wait_for_function("demotape.idleSnapshot.lastSeen.capturedAt > demotape.shared.moved")
    assert page.evaluate("heard.during") == 0
    page.close()
