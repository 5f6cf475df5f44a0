"""The top layer (modal dialogs, popovers, fullscreen): what stood there stands there in the rendered page."""

import lxml.html
import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline

PAGE = """<!DOCTYPE html><style>body { transform: translateX(9px) } section { height: 40px; overflow: hidden }
dialog, [popover] { color: green; width: 200px } #full { background: silver; border: 5px solid red }</style>
<p>Behind all <button id=over>Over</button></p>
<section><dialog id=modal><input name=style> In the dialog <button id=in-modal>Close</button></dialog>
<div popover id=pop>In the popover <button id=in-pop>Hide</button></div>
<form id=full><input name=style> In full <button type=button id=in-full>Leave</button></form>
<div id=host></div></section>
<button id=m onclick="modal.showModal()">Dialog</button> <button id=p popovertarget=pop>Popover</button>
<button id=f onclick="full.requestFullscreen()">Fullscreen</button> <button id=s>In a shadow root</button>
<script>
  host.attachShadow({ mode: 'open' }).innerHTML =
    `<div popover>In the shadow root <button id=in-shadow>Hide</button></div>`;
  s.onclick = () => host.shadowRoot.firstChild.showPopover();
  for (const [id, leave] of [["in-modal", () => modal.close()], ["in-pop", () => pop.hidePopover()],
                             ["in-full", () => document.exitFullscreen()]])
    document.getElementById(id).onclick = leave;
  host.shadowRoot.getElementById("in-shadow").onclick = () => host.shadowRoot.firstChild.hidePopover();
</script>"""
PLACE = """(id) => {
  const deep = (scope) => scope.getElementById(id) ?? [...scope.querySelectorAll('*')].map(
    (each) => each.shadowRoot && deep(each.shadowRoot)).find(Boolean);
  const { x, y, width, height } = deep(document).getBoundingClientRect();
  let hit = document.elementFromPoint(x + width / 2, y + height / 2);
  while (hit?.shadowRoot) hit = hit.shadowRoot.elementFromPoint(x + width / 2, y + height / 2);
  return [x, y, width, height, hit?.id];
}"""


@pytest.mark.parametrize(("opener", "inside", "kind"), [
    ("m", "in-modal", "modal"), ("p", "in-pop", "popover-open"), ("f", "in-full", "fullscreen"),
    ("s", "in-shadow", "popover-open")])
def test_what_was_in_the_top_layer_is_there_in_the_rendered_page(recording_browser, site, opener, inside, kind,
                                                                 shown_in=None):
    """`shown_in`: another browser, where the one that records can show no page without the extension."""
    shown_in = shown_in or recording_browser
    site.pages["/"] = PAGE
    places = []

    async def user_actions(page):
        await page.click(f"#{opener}")
        await page.wait_for_function("document.querySelector(':modal, :popover-open, :fullscreen') || "
                                     "host.shadowRoot.querySelector(':popover-open')")
        places.append(await page.evaluate(PLACE, inside))
        await page.mouse.click(places[0][0] + places[0][2] / 2, places[0][1] + places[0][3] / 2)
        await page.wait_for_function("!document.querySelector(':modal, :popover-open, :fullscreen') && "
                                     "!host.shadowRoot.querySelector(':popover-open')")
        await page.click("#over")

    async def show(document):
        async with shown_offline(shown_in.browser, document, **size) as page:
            return await page.evaluate(PLACE, inside)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    size = states[0]["viewport"]
    opened, closed = states[1:]
    doms = [lxml.html.fromstring(session.recording.blob(state["dom"])) for state in states]
    assert [dom.xpath("//@data-demotape-lifted") for dom in doms] == [[], [kind], []]
    assert places[0][4] == inside
    assert shown_in.run(show(render(session.recording, opened))) == pytest.approx(places[0])
    assert shown_in.run(show(render(session.recording, closed))) != pytest.approx(places[0])


FULL = """<!DOCTYPE html><style>:fullscreen { color: rgb(1, 2, 3) } header { height: 40px }
:fullscreen header, p:not(:fullscreen *) { display: none } section:-webkit-full-screen header { height: 9px !important }
</style><section><header>Above</header><main>Shown <button id=in>Leave</button></main><p>Not shown</p></section>
<button id=whole onclick="document.documentElement.requestFullscreen()">All</button>
<button id=part onclick="document.querySelector('section').requestFullscreen()">Part</button>
<script>document.getElementById("in").onclick = () => document.exitFullscreen()</script>"""
LOOKS = """() => ['header', 'main', 'p'].map((name) => {
  const { display, color, height } = getComputedStyle(document.querySelector(name));
  return [display, color, name === 'header' && height];
})"""


@pytest.mark.parametrize("opener", ["whole", "part"])
def test_rules_for_what_is_fullscreen_apply_to_what_was(recording_browser, site, opener):
    site.pages["/"] = FULL
    looks = []

    async def user_actions(page):
        looks.append(await page.evaluate(LOOKS))
        await page.click(f"#{opener}")
        await page.wait_for_function("document.fullscreenElement")
        looks.append(await page.evaluate(LOOKS))
        await page.click("#in")

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(LOOKS)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    shown = [recording_browser.run(show(render(session.recording, state))) for state in states]
    assert shown == looks and looks[0] != looks[1]


INNER = """<!DOCTYPE html><div style="height: 30px; overflow: hidden">
<div popover id=pop>In the popover <button id=in-pop onclick="pop.hidePopover()">Hide</button></div></div>
<button id=p popovertarget=pop>Popover</button> <main></main><script>
  const paragraph = document.createElement('p'), block = document.createElement('div');
  block.append('block');
  paragraph.append('before', block, 'after');
  document.querySelector('main').append(paragraph);
</script>"""
INSIDE = """() => [document.querySelector('#pop').matches(':popover-open'),
  [...document.querySelector('main p').childNodes].map((each) => each.textContent)]"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_is_there_in_a_frame_of_the_same_site_and_of_another(recording_browser, site, host):
    """So is a paragraph that holds a block."""
    site.pages["/"] = f"<iframe src={site.origin.replace('127.0.0.1', host)}/inner width=500 height=400></iframe>"
    site.pages["/inner"] = INNER

    async def user_actions(page):
        frame = page.frame_locator("iframe")
        await frame.locator("#p").click()
        await frame.locator("#in-pop").click()

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.frames[1].evaluate(INSIDE)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    opened = [turn["state"] for turn in session.turns if turn["intent"] == "click"][-1]
    assert recording_browser.run(show(render(session.recording, opened))) == [True, ["before", "block", "after"]]
