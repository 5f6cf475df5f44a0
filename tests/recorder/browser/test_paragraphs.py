"""A paragraph into which scripts have put blocks, as no HTML text can have it, stands so in the rendered page."""

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline

PAGE = """<!DOCTYPE html><style>p { border: 1px solid; margin: 9px; color: gray } p > div { color: red }</style>
<h1>Above</h1><main id=place></main><p>After</p><button id=b>Press</button>
<script>
  const make = (tag, ...inner) => {
    const element = document.createElement(tag);
    element.append(...inner);
    return element;
  };
  const inner = make('p', 'inner ', make('ol', make('li', 'one')), ' its end');
  place.append(make('p', 'first ', make('div', 'a block', inner), ' last ', make('b', 'bold')), 'between');
  place.append(make('p', make('p', 'a paragraph in one')), make('p', make('div', 'alone')));
  const root = make('section');
  root.attachShadow({ mode: 'open' }).append(make('p', make('div', 'in a root'), ' its end'));
  place.append(root);
  b.onclick = () => place.firstChild.append(make('div', 'added'), ' more');
</script>"""
TREE = """() => {
  const allTold = (nodes) => [...nodes ?? []].map((node) => node.nodeType === 3 ? node.data
    : [node.localName, ...allTold(node.shadowRoot?.childNodes), ...allTold(node.childNodes)]);
  const { height } = document.querySelector('main').getBoundingClientRect();
  return [allTold([document.querySelector('main')]), height];
}"""


def test_a_paragraph_that_no_text_can_have_is_rendered_as_it_was(recording_browser, site):
    site.pages["/"] = PAGE
    trees = []

    async def user_actions(page):
        await page.wait_for_selector("#b")
        for _ in range(2):
            trees.append(await page.evaluate(TREE))
            await page.click("#b")

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(TREE)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    for tree, state in zip(trees, states, strict=True):
        shown = recording_browser.run(show(render(session.recording, state)))
        assert shown == [tree[0], pytest.approx(tree[1])]
