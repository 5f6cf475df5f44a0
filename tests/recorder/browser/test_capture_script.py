"""What Python calls in the capture script is there, under that name."""

import re

from recorder.browser.capture_script import capture_script
from tests.support.checkout import ROOT

CALL = re.compile(r"\bdemotape\.(\w+)\.(\w+)\(")


def test_functions_that_the_recorder_calls_exist(recording_browser):
    calls = sorted({call for path in (ROOT / "recorder").rglob("*.py")
                    for call in CALL.findall(path.read_text(encoding="utf-8"))})
    assert len(calls) >= 8

    async def types():
        page = await recording_browser.browser.new_page()
        await page.evaluate("globalThis.demotapeSend = () => {}")
        await page.evaluate(capture_script("recording", keys=True))
        kinds = {f"{part}.{name}": await page.evaluate(f"typeof demotape.{part}?.{name}") for part, name in calls}
        await page.close()
        return kinds

    assert {name: kind for name, kind in recording_browser.run(types()).items() if kind != "function"} == {}
