"""A press whose point was outside the box of its target is done again outside of it, also where the target stands
elsewhere now."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.services.site import Site
from tests.support.waiting import wait_until_async

COMMAND = Path(sys.executable).parent / "demotape"
PAGE = """<!DOCTYPE html><title>Outside</title><style>
#part {{ position: absolute; left: {left}px; top: 20px; width: 90px; height: 30px }}
#part::after {{ content: 'x'; position: absolute; left: 150px; top: 200px; width: 60px; height: 60px }}
dialog {{ margin: 0; left: {left}px; top: {left}px; width: 200px; height: 150px }}</style>
<div id=part>Part</div><dialog id=asked closedby=any>Text</dialog><script>
const tell = (what) => fetch('/' + what);
part.onclick = ({{ offsetY }}) => {{ tell(offsetY > 100 ? 'pressed-below' : 'pressed-inside'); asked.showModal() }};
asked.onclose = () => tell('closed');
</script>"""


def test_a_press_outside_is_outside_again(recording_browser):
    asked = []
    site = Site({"/": PAGE.format(left=20)} | {
        f"/{name}": lambda request: asked.append(request.path) or "" for name in ("pressed-below", "pressed-inside",
                                                                                  "closed")})

    async def user_actions(page):
        await page.mouse.click(20 + 180, 20 + 230)
        await page.locator("dialog").wait_for()
        await page.mouse.click(500, 400)
        await wait_until_async(lambda: len(asked) == 2, what="both requests")

    try:
        session = recording_browser.record(user_actions, url=site.origin + "/")
        elements = [turn["element"] for turn in session.turns if turn["intent"] == "click"]
        assert [element["point_outside"] for element in elements] == ["pseudo-element", "backdrop"]
        site.pages["/"] = PAGE.format(left=350)  # the dialog is where it was pressed beside it
        asked.clear()
        run = [COMMAND, "replay", "run", "--live", "--json", session.recording.layout.root]
        done = subprocess.run(run, capture_output=True, text=True)
        assert asked == ["/pressed-below", "/closed"], json.loads(done.stdout)
    finally:
        site.close()
