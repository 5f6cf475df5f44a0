"""Animations: what they move is told where it is, also in frames and shadow roots; in rendered pages those that end are
at their end at once, as they were when the page was looked at."""

import json

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline

INNER = """<!DOCTYPE html><style>
@keyframes come { from { opacity: 0; translate: 0 90px } } @keyframes stay { to { opacity: .5 } }
@keyframes turn { to { rotate: 360deg } } @keyframes grow { from { width: 10px } to { width: 110px } }
p { animation: come .5s } q { animation: stay .5s forwards } b::before { content: 'x'; animation: stay .4s .1s both }
i { display: block; animation: turn 9s linear infinite } u { animation: stay 1s paused }
div { overflow: auto; height: 40px } s { display: block; animation: grow linear; animation-timeline: scroll(nearest) }
dialog { transition: opacity .5s; @starting-style { opacity: 0 } }
</style><p>p</p><q>q</q><b>b</b><i>i</i><u>u</u><div><s>s</s><br><br><br><br></div><section></section>
<dialog>d</dialog><script>
  document.querySelector('section').attachShadow({ mode: 'open' }).innerHTML =
    '<style>@keyframes come { from { opacity: 0 } } em { animation: come .5s }</style><em>e</em>';
  document.querySelector('dialog').show();
</script>"""
LOOKS = """() => {
  const seen = (scope, name, pseudo) => {
    const { opacity, translate, width } = getComputedStyle(scope.querySelector(name), pseudo);
    return [name, opacity, translate, name === 's' && width];
  };
  return [...['p', 'q', 'u', 's', 'dialog'].map((name) => seen(document, name)), seen(document, 'b', '::before'),
    seen(document.querySelector('section').shadowRoot, 'em'),
    document.getAnimations().filter((each) => each.timeline === document.timeline)
      .filter((each) => each.playState === 'running').length];
}"""

GOING_ON = """() => [document, document.querySelector('section').shadowRoot].flatMap((scope) => scope.getAnimations())
  .filter((each) => each.playState === 'running').length === 2"""


def test_animations_that_end_have_ended_and_others_go_on(recording_browser, site):
    site.pages["/"] = f"{INNER}<button>Press</button><iframe src=/inner></iframe>"
    site.pages["/inner"] = INNER
    looks = []

    async def looks_of(page):
        return [await frame.evaluate(LOOKS) for frame in page.frames]

    async def user_actions(page):
        for frame in page.frames:
            await frame.wait_for_function(GOING_ON)
        looks.append(await looks_of(page))
        await page.click("button")

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await looks_of(page)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    [state] = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    assert recording_browser.run(show(render(session.recording, state))) == looks[0]
    assert looks[0][0][-1] == 1  # the one that has no end


MOVING = """<style>@keyframes go { to { translate: 600px } }
button { position: absolute; top: 120px; left: 0; animation: go 6s linear infinite alternate }</style>
<button>Go</button>"""
STILL = "".join(f"<p>Still {number}</p>" for number in range(40))
ROOT = f"""<div></div>{STILL}<script>
document.querySelector('div').attachShadow({{ mode: 'open' }}).innerHTML = `{MOVING}`</script>"""
FRAME = "position: absolute; top: 0; left: 0; width: 900px; height: 400px; border: 0"
PLACES = """() => {
  const button = (document.querySelector('div')?.shadowRoot ?? document).querySelector('button');
  window.place = () => button.getBoundingClientRect().x;
  window.places = [];
  document.addEventListener('pointerdown', () => window.places.push(window.place()), true);
}"""


@pytest.mark.parametrize("inner", [f"{STILL}{MOVING}", ROOT], ids=["frame", "shadow-root"])
def test_what_an_animation_moves_is_told_where_it_is(recording_browser, site, inner):
    site.pages["/"] = f"<!DOCTYPE html>{STILL}<iframe src=/inner style='{FRAME}'></iframe>"
    site.pages["/inner"] = f"<!DOCTYPE html>{inner}"
    places = []

    async def user_actions(page):
        frame = page.frames[1]
        await frame.evaluate(PLACES)
        for _ in range(4):
            await page.mouse.click(500, 300)
            await frame.wait_for_function("Math.abs(window.place() - window.places.at(-1)) > 25")
        places.extend(await frame.evaluate("window.places"))

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    tables = [json.loads(session.recording.blob(state["elements"])) for state in states]
    told = [row["bbox"]["x"] for rows in tables for row in rows if row["tag"] == "button"]
    assert told == pytest.approx(places, abs=6) and len(places) == 4  # it moves by 100 pixels a second
    assert [state["animations"] for state in states] == [1] * 4
