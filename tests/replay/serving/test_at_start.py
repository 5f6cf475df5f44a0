"""A session that began signed in, with things stored, in another place: replay begins as it did."""

import asyncio

from pipeline import refresh
from recorder import Recorder, Recording
from replay.running import running

PAGE = """<!DOCTYPE html><title>Start</title><p id=told></p><button>More</button><script>
const say = () => document.getElementById("told").textContent = JSON.stringify([localStorage.theme,
  sessionStorage.step, document.cookie.includes("kept=1"), Boolean(localStorage.authToken), navigator.language,
  Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, devicePixelRatio]);
say();
document.querySelector("button").onclick = () => { sessionStorage.step = Number(sessionStorage.step) + 1; say(); };
</script>"""
CANARY = "canary-9988776655"
KEPT = '["dark","4",true,true,"de-AT","Europe/Vienna",700,2]'


def test_it_begins_as_the_session_did(recording_browser, site, tmp_path):
    site.pages["/"] = PAGE

    async def record():
        context = await recording_browser.browser.new_context(
            locale="de-AT", timezone_id="Europe/Vienna", viewport={"width": 700, "height": 500}, device_scale_factor=2)
        page = await context.new_page()
        await page.goto(site.origin)
        await page.evaluate(f"""() => {{ localStorage.theme = "dark"; localStorage.authToken = "{CANARY}";
          sessionStorage.step = "3"; document.cookie = "kept=1"; document.cookie = "sid={CANARY}"; }}""")
        async with Recorder(context, tmp_path / "recording", replayable=True):
            await page.goto(site.origin)
            await page.locator("button").click()
            await page.get_by_text(KEPT).wait_for()
        await context.close()

    recording_browser.run(record())
    site.pages.clear()
    kept = Recording(tmp_path / "recording").manifest["browser_at_start"]
    assert (kept["time_zone"], kept["languages"][0]) == ("Europe/Vienna", "de-AT")
    assert {each["value"] for each in kept["cookies"]} == {"1", kept["origins"][0]["local_storage"][0]["value"]}
    assert CANARY not in (tmp_path / "recording" / "recording.json").read_text()
    again = Recording(tmp_path / "recording")
    result = asyncio.run(running.run(again, refresh(again.layout.root)[0], tmp_path / "run"))
    assert [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes
