"""Quirks mode and the like: a rendered page and its frames are shown in the mode in which they were recorded."""

import asyncio

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline

# A table takes no font from around it in quirks mode; a line of a small picture is as high as the picture but in
# standards mode; lengths need no unit and the body fills the frame in quirks mode only.
INNER = ("<body style='font-size:40px;width:250;background:pink'><table><tr><td>Cell<td>"
         "<img width=5 height=5 src=data:,></table><p onclick=1>Text</p></body>")
LIMITED = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/t.dtd">'
PAGES = {
    "/": f"""<!DOCTYPE html><p id=p>Top</p><iframe src=/quirks></iframe><iframe src=/limited></iframe>
      <iframe src=/standards></iframe><iframe srcdoc="{INNER.replace('"', '&quot;')}"></iframe>
      <iframe id=written></iframe>
      <div id=host></div><script>const write = (frame) => {{ const inner = frame.contentDocument; inner.open();
      inner.write(`{INNER}<iframe src=/quirks></iframe>`); inner.close() }}; write(written);
      host.attachShadow({{ mode: 'open' }}).innerHTML = '<iframe></iframe>';
      write(host.shadowRoot.firstChild)</script>""",
    "/set": "<frameset cols='50%,*'><frame src=/quirks><frame src=/standards></frameset>",
    "/none": INNER,
    "/quirks": INNER, "/limited": LIMITED + INNER, "/standards": "<!DOCTYPE html>" + INNER,
}
SEEN = """() => (function seen(scope) {
  const { document } = scope;
  const frames = [document, ...Array.from(document.querySelectorAll('*'), (e) => e.shadowRoot).filter(Boolean)]
    .flatMap((root) => Array.from(root.querySelectorAll('iframe, frame'), (frame) => frame.contentWindow));
  const boxes = Array.from(document.querySelectorAll('body, table, td, p'), (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [element.localName, x, y, width, height].join();
  });
  return [document.compatMode, ...boxes, frames.map(seen)];
})(window)"""


@pytest.mark.parametrize("address", ["/", "/set", "/none"])
def test_a_rendered_page_is_in_the_modes_of_the_recorded_one(recording_browser, site, address):
    site.pages |= PAGES

    async def user_actions(page):
        before = await page.evaluate(SEEN)
        for _ in range(2):
            await page.mouse.click(100, 40)
            await asyncio.sleep(0.3)
        return before

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(SEEN)

    session = recording_browser.record(user_actions, url=site.origin + address)
    state = next(turn["state"] for turn in session.turns if turn["intent"] == "click")
    assert recording_browser.run(show(render(session.recording, state))) == session.answer
