"""What was typed last is in the recording, however soon after it that ends."""

from pipeline.turns.folding import fold
from recorder import Recorder, Recording

PAGE = """<!DOCTYPE html><div id=e contenteditable style="min-height:20px"></div><script>
e.addEventListener('beforeinput', event => { event.preventDefault(); e.textContent += event.data;
getSelection().selectAllChildren(e); getSelection().collapseToEnd() })</script>"""


def test_text_that_an_editor_takes_over_is_there(recording_browser, site, tmp_path):
    site.pages["/"] = PAGE

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec"):
            await page.goto(site.origin)
            await page.click("#e")
            await page.keyboard.type("Hello")
        await context.close()

    recording_browser.run(run())
    assert fold(Recording(tmp_path / "rec").events)[-1]["arguments"]["text"] == "Hello"
