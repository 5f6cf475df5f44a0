"""Every kind of action is done again by trusted input, with what it does to a page."""

import asyncio

import pytest

from pipeline import refresh
from pipeline.pages.targets import candidates, element_of
from recorder import Recording
from replay.running import running
from replay.running.parsed_action import with_action

PAGE = """<!DOCTYPE html><title>Kinds</title><h1>Kinds</h1>
<select id=list><option>a<option>b<option>c<option disabled>d<option>e</select><input type=range id=range>
<textarea id=text>one two</textarea><div contenteditable id=free>edit</div><button id=ask>Ask</button><p id=out></p>
<a href=/two target=_blank>Another tab</a>
<div id=part style="height:60px;overflow:auto"><div style="height:800px">tall</div></div>
<div draggable=true id=drag>Drag me</div><div id=drop style="height:40px;border:1px solid">Drop here</div>
<label style="display:block"><input type=checkbox id=box style="position:absolute;left:-9999px"> A hidden box</label>
<p id=menu>Rest here</p><script>
const byId = (id) => document.getElementById(id), told = [];
const tell = (text) => { told.push(text); byId("out").textContent = told.join(" "); };
byId("ask").onclick = () => tell(prompt("Name?"));
byId("drag").ondragstart = (event) => event.dataTransfer.setData("text", "x");
byId("drop").ondragover = (event) => event.preventDefault();
byId("drop").ondrop = (event) => { event.preventDefault(); byId("drop").textContent = "dropped"; };
byId("menu").onmouseenter = () => byId("menu").textContent = "Open";
for (const id of ["list", "range", "box"]) for (const type of ["input", "change"])
  byId(id).addEventListener(type, (event) => tell(`${id} ${type} ${event.isTrusted} ${event.target.value}`));
addEventListener("keydown", (event) => event.key === "F2" && tell("F2"));
</script>"""
OTHER = "<!DOCTYPE html><title>Two</title><button onclick='this.textContent=\"pressed\"'>Press</button>"


async def act(page):
    async def answer(dialog):
        await dialog.accept("Ada")

    async def middle(selector):
        box = await page.locator(selector).bounding_box()
        return box["x"] + min(box["width"], 40) / 2, box["y"] + box["height"] / 2

    async def rest(on=page):
        await on.wait_for_timeout(200)

    page.on("dialog", answer)
    await page.locator("#list").click()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        await page.keyboard.press(key)
    await rest()
    await page.locator("#text").click()
    await page.keyboard.press("Home")
    await page.keyboard.type("zero ")
    await rest()
    await page.locator("#free").click()
    await page.keyboard.type("ed ")
    await rest()
    await page.locator("#ask").click()
    await rest()
    await page.keyboard.press("F2")
    await rest()
    await page.locator("#part").hover()
    await page.mouse.wheel(0, 200)
    await rest()
    await page.get_by_text("A hidden box").click()
    await rest()
    await page.mouse.move(*await middle("#drag"))
    await page.mouse.down()
    await page.mouse.move(*await middle("#drop"), steps=8)
    await page.mouse.up()
    await rest()
    async with page.context.expect_page() as opening:
        await page.get_by_text("Another tab").click()
    other = await opening.value
    await other.wait_for_load_state()
    await other.bring_to_front()
    await rest(other)
    await other.locator("button").click()
    await rest(other)
    await other.close()
    await page.bring_to_front()
    await rest()
    await page.locator("h1").dblclick()
    await page.keyboard.press("Control+c")
    await rest()
    await page.locator("#text").click()
    await page.keyboard.press("Control+v")
    await rest()
    await page.goto(page.url + "two")
    await rest()
    await page.go_back()
    await rest()
    await page.reload()
    await rest()


@pytest.fixture(scope="module")
def run(recording_browser, tmp_path_factory):
    """The recorded turns, and what came of them."""
    from tests.support.services.site import Site

    site = Site({"/": PAGE, "/two": OTHER})
    try:
        recorded = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True})
    finally:
        site.close()
    root = recorded.recording.layout.root
    demonstration, _ = refresh(root)
    out = tmp_path_factory.mktemp("runs") / "run"
    return demonstration, asyncio.run(running.run(Recording(root), demonstration, out)), Recording(root)


def test_every_turn_does_again_what_it_did(run):
    demonstration, result, _ = run
    intents = {turn["intent"] for turn in demonstration["turns"]}
    assert intents >= {"load", "change", "click", "textInput", "dialog", "press", "scroll", "drag", "tabcreate",
                       "tabswitch", "tabremove", "dblclick", "copy", "paste", "back", "reload"}
    worse = [(each.intent, each.verdict, each.reason) for each in result.outcomes if each.verdict != "same"]
    assert worse == []  # the page tells of each event whether it is trusted


def test_nothing_was_asked_for_that_was_not_recorded(run):
    assert run[1].missing == {}


def test_an_element_is_dragged_to_another_by_a_string(run, tmp_path):
    demonstration, _, recording = run
    turns = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    number, state = next((number, turn["state"]) for number, turn in enumerate(turns, 1) if turn["intent"] == "drag")
    rows = [element_of(recording, state, row["uid"]) for row in candidates(recording, state)]
    uids = {element["attributes"].get("id"): element["uid"] for element in rows}
    action = f"drag_and_drop('{uids['drag']}', '{uids['drop']}')"
    asked, after = with_action(demonstration, recording, number, action)
    result = asyncio.run(running.run(recording, asked, tmp_path / "run", last=after))
    assert result.outcomes[-1].intent == "drag" and result.last == "same", result.outcomes[-1]


TYPED = """<!DOCTYPE html><title>Typed</title><input id=same value=abc><input id=less value=abc>
<input id=mail type=email value=abc><textarea id=area>abc</textarea><div id=free contenteditable>abc</div>
<button>Send</button><p id=out></p><script>
document.querySelector("button").onclick = () => document.getElementById("out").textContent =
  [...document.querySelectorAll("input, textarea, div")].map((field) => field.value ?? field.textContent).join();
</script>"""
TEXTS = {"same": "abc", "less": "ab", "mail": "abc", "area": "abc", "free": "abc"}


def test_a_text_typed_over_the_same_text_ends_as_it_was(recording_browser, site, tmp_path):
    site.pages["/"] = TYPED

    async def user_actions(page):
        for field, text in TEXTS.items():
            await page.click(f"#{field}")
            await page.keyboard.press("Control+a")
            await page.keyboard.type(text)
        await page.click("button")
        await page.wait_for_function("document.getElementById('out').textContent")

    recorded = recording_browser.record(user_actions, url=site.origin + "/", keep={"replayable": True})
    demonstration, _ = refresh(recorded.recording.layout.root)
    result = asyncio.run(running.run(recorded.recording, demonstration, tmp_path / "run"))
    assert [(each.intent, each.verdict) for each in result.outcomes if each.verdict != "same"] == []
    assert result.last == "same"
