"""States that come by themselves are reached: by timers up to the end of the session, and where the pointer goes."""

import asyncio

from pipeline import refresh
from recorder import Recording
from replay import running

COUNTING = """<!DOCTYPE html><title>Counting</title><button>Begin</button><p>0 seconds</p><script>
let seconds = 0;
document.querySelector("button").onclick = () =>
  setInterval(() => document.querySelector("p").textContent = `${++seconds} seconds`, 1000);
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


def run(recording_browser, site, tmp_path, page, act) -> running.Result:
    site.pages["/"] = page
    root = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True}).recording.layout.root
    site.pages.clear()
    return asyncio.run(running.run(Recording(root), refresh(root)[0], tmp_path / "run"))


def test_a_timer_runs_on_to_the_last_state(recording_browser, site, tmp_path):
    async def act(page):
        await page.locator("button").click()
        await page.get_by_text("2 seconds").wait_for()

    result = run(recording_browser, site, tmp_path, COUNTING, act)
    assert [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes


def test_what_shows_when_the_pointer_moves_on_is_there_for_the_next_turn(recording_browser, site, tmp_path):
    async def act(page):
        await page.mouse.click(100, 80)
        await page.mouse.move(100, 130, steps=4)
        await page.get_by_text("New event").wait_for()
        await page.mouse.click(100, 130)
        await page.get_by_text("Named").wait_for()

    result = run(recording_browser, site, tmp_path, MOVED, act)
    assert [each.verdict for each in result.outcomes] == ["same"] * 3, result.outcomes
