"""States that come by themselves are reached: by timers up to the end of the session, and where the pointer goes."""

import asyncio

import pytest
from playwright.async_api import Page

from pipeline import refresh
from recorder import Recording
from replay.running import running
from replay.running.acting import Actor
from replay.running.pictures import Pictures
from replay.running.timers import inspection_times

COUNTING = """<!DOCTYPE html><title>Counting</title><button>Begin</button><p>0 seconds</p><script>
let seconds = 0;
document.querySelector("button").onclick = () =>
  setInterval(() => document.querySelector("p").textContent = `${++seconds} seconds`, 1000);
</script>"""
GROWING = """<!DOCTYPE html><title>Growing</title><style>
div { height: 40px; background: #36c; transition: height 1.5s } .big { height: 400px }
</style><button>Begin</button><p></p><div></div><script>
const box = document.querySelector("div");
document.querySelector("button").onclick = () => {
  box.className = "big";
  setTimeout(() => document.querySelector("p").textContent = Math.round(box.getBoundingClientRect().height), 1700);
};
</script>"""
# As calendars do: a press begins something, which shows once the pointer moves.
MOVED = """<!DOCTYPE html><title>Moved</title><style>
div, button { position: absolute; left: 40px; width: 200px; }
</style><div style="top: 60px; height: 40px; background: #ccc">Eight o'clock</div><script>
const row = document.querySelector("div");
let pressed = false;
row.onmousedown = () => pressed = true;
document.onmousemove = () => {
  if (!pressed || document.querySelector("button")) return;
  document.body.insertAdjacentHTML("beforeend", "<button style='top: 120px'>New event</button>");
  document.querySelector("button").onclick = (event) => event.target.textContent = "Named";
};
</script>"""


def run(recording_browser, site, tmp_path, page, act, later: float = 0.0) -> running.Result:
    """Record `act` and run it again; the last state is said to be `later` seconds later than it was told."""
    site.pages["/"] = page
    root = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True}).recording.layout.root
    site.pages.clear()
    recording = Recording(root)
    last = dict(recording.manifest["last_state"])
    last["screenshot_time"] += later
    return asyncio.run(running.run(recording, refresh(root)[0], tmp_path / "run", last=last))


async def count(page: Page) -> None:
    await page.locator("button").click()
    await page.get_by_text("2 seconds").wait_for()


# A press may have its effect late on a busy machine, in the recording or in the run.
@pytest.mark.parametrize("later", [0.0, 1.0])
def test_a_timer_runs_on_to_the_last_state(recording_browser, site, tmp_path, later):
    result = run(recording_browser, site, tmp_path, COUNTING, count, later)
    assert [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes


@pytest.mark.parametrize("late", [0.8, 2.6])
def test_a_timer_that_an_action_begins_late_runs_on_as_long(recording_browser, site, tmp_path, monkeypatch, late):
    acts = Actor.act

    async def slow(self, *given):
        await asyncio.sleep(late)
        return await acts(self, *given)

    monkeypatch.setattr(Actor, "act", slow)
    result = run(recording_browser, site, tmp_path, COUNTING, count)
    assert [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes


async def grow(page: Page) -> None:
    await page.locator("button").click()
    await page.get_by_text("400").wait_for()


# A list that a page draws as its own element has its transitions in a shadow root.
SHADOWED = GROWING.replace("<div></div>", "<section></section>").replace(
    'const box = document.querySelector("div");',
    'const root = document.querySelector("section").attachShadow({ mode: "open" });'
    'root.append(document.querySelector("style").cloneNode(true), document.createElement("div"));'
    'const box = root.querySelector("div");')
BY_SCROLLING = GROWING.replace("</style>", "@keyframes fade { to { opacity: .9 } }"
                               "button { animation: fade linear; animation-timeline: scroll() }</style>")


@pytest.mark.parametrize("page", [GROWING, SHADOWED, BY_SCROLLING],
                         ids=["plain", "in a shadow root", "beside one that goes by scrolling"])
def test_transitions_run_on_with_the_timers_that_look_at_them(recording_browser, site, tmp_path, page):
    """A timer that ran ahead of the browser's transition would find the box small."""
    result = run(recording_browser, site, tmp_path, page, grow, 0.5)
    assert [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes
    assert result.seconds < result.recorded_seconds + 60


def test_pictures_of_a_run_show_what_the_turn_came_to(recording_browser, site, tmp_path):
    result = run(recording_browser, site, tmp_path, GROWING, grow, 0.5)
    assert [each.picture for each in result.outcomes] == [pytest.approx(1.0, abs=0.01)] * 2
    assert all(each.shown.startswith(b"\x89PNG") for each in result.outcomes)
    run_again = refresh(tmp_path / "run")[0]["turns"]  # a run is a recording, in which each action is told once
    assert [turn["intent"] for turn in run_again] == ["load", "click"] and run_again[1]["state"]["screenshot"]


def test_moments_to_look_at_a_page():
    assert inspection_times(0.0, 1.0) == []
    assert [round(each, 1) for each in inspection_times(10.0, 0.0)] == [9.5, 10.0, 10.1, 10.2, 10.3, 10.4, 10.5]
    assert [round(each, 1) for each in inspection_times(10.0, 0.5)][-3:] == [10.5, 10.6, 10.7]
    late = inspection_times(10.0, 7.0)
    assert (min(late), round(max(late), 1)) == (9.5, 17.2) and len(late) == 15


@pytest.mark.parametrize("place", ["page", "frame", "popup"])
def test_what_shows_when_the_pointer_moves_on_is_there_for_the_next_turn(recording_browser, site, tmp_path, place):
    async def act(page):
        if place == "popup":
            async with page.expect_popup() as opened:
                await page.locator("a").click()
            page = await opened.value
        here = page.frames[-1]
        await here.get_by_text("Eight").wait_for()
        await page.mouse.click(100, 80)
        await page.mouse.move(100, 130, steps=4)
        await here.get_by_text("New event").wait_for()
        await page.mouse.click(100, 130)
        await here.get_by_text("Named").wait_for()

    site.pages["/moved"] = MOVED
    outer = {"page": MOVED, "popup": "<a href=/moved target=_blank>Open</a>",
             "frame": f"<body style='margin:0'><iframe src='{site.other_origin}/moved' width=600 height=400 "
                      "style='border:0'></iframe>"}[place]
    result = run(recording_browser, site, tmp_path, outer, act)
    assert result.verdict == "same", result.outcomes


def test_a_state_that_nothing_shows_has_no_picture_of_another(tmp_path):
    async def picture(painted: asyncio.Event) -> bytes:
        painted.set()
        return b"PNG"

    async def take() -> list[bytes | None]:
        pictures = Pictures(None)
        for turn, taking in (("turn-1", picture), ("turn-2", None), ("turn-3", picture)):
            pictures.begin(taking)
            pictures.capture(turn, None)
            await pictures.painted()
        return [(await pictures.result(f"turn-{number}"))[0] for number in (1, 2, 3)]

    assert asyncio.run(take()) == [b"PNG", None, b"PNG"]
