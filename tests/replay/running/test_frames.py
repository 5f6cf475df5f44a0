"""Elements in frames of this site and of another, and in a shadow root."""

import asyncio

from pipeline import refresh
from recorder import Recording
from replay.running import running

PRESS = "<button onclick=\"this.textContent = '{0} pressed'\">{0}</button>"
TOP = """<!DOCTYPE html><title>Frames</title><iframe src="{other}/far" width=300 height=80></iframe>
<iframe src="/near" width=300 height=160></iframe><div id=host></div><script>
const shadow = document.getElementById("host").attachShadow({{ mode: "open" }});
shadow.innerHTML = "<button>Deep</button>";
shadow.firstChild.onclick = () => shadow.firstChild.textContent = "Deep pressed";
</script>"""


def test_what_is_pressed_anywhere_is_pressed_again(recording_browser, site, tmp_path):
    site.pages |= {"/": TOP.format(other=site.other_origin), "/far": PRESS.format("Far"),
                   "/inner": PRESS.format("Inner"),
                   "/near": PRESS.format("Near") + "<iframe src=/inner width=200 height=60></iframe>"}

    async def act(page):
        async def press(name):
            frame = next(each for each in page.frames if each.url.endswith(f"/{name.lower()}"))
            await frame.get_by_text(name).click()
            await frame.get_by_text(f"{name} pressed").wait_for()

        await press("Near")
        await press("Inner")
        box = await page.locator("#host").bounding_box()
        await page.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2)
        await press("Far")  # last: what a frame of another site shows is in the next state only once it rests

    root = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True}).recording.layout.root
    site.pages.clear()
    result = asyncio.run(running.run(Recording(root), refresh(root)[0], tmp_path / "run"))
    # Of frames of another site a state has what they showed at rest, which on a busy machine is late; the last state is
    # told by all frames, and holds what every press has changed.
    assert result.missing == {} and result.last == "same", result.outcomes
    assert [each.intent for each in result.outcomes].count("click") == 4
    assert "failed" not in {each.verdict for each in result.outcomes}
