"""What scripts have put into each other as no HTML text can have it stands so in the rendered page."""

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.samples.traps import closed_root_found

PAGE = """<!DOCTYPE html><style>p { border: 1px solid; margin: 9px; color: gray } p > div { color: red }</style>
<h1>Above</h1><main id=place></main><p>After</p><button id=b>Press</button>
<script>
  const make = (tag, ...inner) => {
    const element = tag.startsWith('svg:') ? document.createElementNS('http://www.w3.org/2000/svg', tag.slice(4))
      : document.createElement(tag);
    element.append(...inner);
    return element;
  };
  %s
</script>"""
TREE = """() => {
  document.normalize();
  const allTold = (nodes) => [...nodes ?? []].map((node) => node.nodeType === 3 ? node.data
    : [node.nodeName, ...allTold(node.shadowRoot?.childNodes), ...allTold(node.childNodes)]);
  const { height } = document.querySelector('main').getBoundingClientRect();
  return [allTold([document.querySelector('main')]), height];
}"""

PARAGRAPHS = """
  const inner = make('p', 'inner ', make('ol', make('li', 'one')), ' its end');
  place.append(make('p', 'first ', make('div', 'a block', inner), ' last ', make('b', 'bold')), 'between');
  place.append(make('p', make('p', 'a paragraph in one')), make('p', make('div', 'alone')));
  const root = make('section');
  root.attachShadow({ mode: 'open' }).append(make('p', make('div', 'in a root'), ' its end'));
  place.append(make('p', make('div', root)), root.cloneNode());
  place.append(make('p', 'a ', make('span', 'b ', make('div', 'deeper', make('b', 'bold')), ' c'), ' d'));
  place.append(make('p', make('b', make('i', make('h2', 'in letters'), ' slanted'), ' bold'), ' plain'));
  b.onclick = () => place.firstChild.append(make('div', 'added'), ' more');
"""
ITSELF = """
  place.append(...['a', 'button', 'form', 'li', 'dd', 'nobr', 'option', 'h3', 'select', 'p', 'table', 'label']
    .map((tag) => make(tag, 'one ', make(tag, 'two ', make('span', make(tag, 'three'), ' b'), ' c'), ' d')));
  place.append(make('a', 'card ', make('div', make('p', make('a', 'inner')), make('button', make('a')))));
  place.append(make('form', make('div', make('form', make('input'))), make('input')), make('h2', make('h1', 'x'), 'y'));
  place.append(make('dl', make('dd', make('span', make('dt', 'x')))), make('ul', make('li', make('ul', make('li')))));
  b.onclick = () => place.append(make('a', 'more'));
"""
TABLES = """
  place.append(make('table', 'text', make('tr', make('td', 'a'), make('th', 'b'), 'in a row', make('div', 'block'))));
  place.append(make('table', make('tbody', make('tr', make('td', make('tr', make('td', 'x')))), make('td', 'y'))));
  place.append(make('table', make('div', make('table', make('caption', 'c'), make('thead', make('th', 'h'))))));
  place.append(make('table', make('colgroup', make('col'), make('span')), make('col'), make('form', make('tr', 'z'))));
  place.append(make('div', make('td', 'cell'), make('tr', 'row'), make('tbody', make('tr'))), make('tr', make('td')));
  place.append(make('table', make('a', 'l', make('a', 'm')), make('input'), make('select', make('option', 'o'))));
  b.onclick = () => place.append(make('tr', 'more'));
"""
DRAWINGS = """
  place.append(make('svg:svg', make('svg:g', make('div', 'block', make('svg:svg', make('svg:a', make('svg:a')))))));
  place.append(make('svg:svg', make('p', make('svg:svg', make('svg:foreignObject', make('p', make('div', 'x')))))));
  place.append(make('a', make('svg:svg', make('svg:a', make('svg:text', 't')), make('svg:title', 'a title'))));
  place.append(make('svg:svg', make('svg:desc', make('p', make('p', 'in a description')))), make('p', make('svg:svg')));
  place.append(make('select', make('div', make('button', 'b'), make('option', 'x', make('span', 'y'))), make('hr')));
  place.append(make('ruby', 'r', make('rt', 't', make('rp', 'p')), make('p', make('rt', 'u'))));
  b.onclick = () => place.append(make('svg:svg'));
"""


async def trees_of(page, trees: list, tree: str = TREE, times: int = 2) -> None:
    await page.wait_for_selector("#b")
    for _ in range(times):
        trees.append(await page.evaluate(tree))
        await page.click("#b")


def shown_trees(recording_browser, session, tree: str = TREE) -> list:
    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(tree)

    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    return [recording_browser.run(show(render(session.recording, state))) for state in states]


@pytest.mark.parametrize("script", [PARAGRAPHS, ITSELF, TABLES, DRAWINGS],
                         ids=["paragraphs", "in-itself", "tables", "drawings"])
def test_what_no_text_can_have_is_rendered_as_it_was(recording_browser, site, script):
    site.pages["/"] = PAGE % script
    trees: list = []
    session = recording_browser.record(lambda page: trees_of(page, trees), url=site.origin + "/")
    assert len(trees) == 2
    for tree, shown in zip(trees, shown_trees(recording_browser, session), strict=True):
        assert shown[0] == tree[0]
        assert shown[1] == pytest.approx(tree[1])


AROUND = """
  document.head.append(make('div', 'in the head', make('link')), 'words');
  document.documentElement.append(make('div', 'behind the body', make('p', make('div'))), 'words behind');
  document.documentElement.insertBefore(make('nav', 'before it'), document.body);
  document.body.append(make('tr', 'at its end'));
  b.onclick = () => document.documentElement.append(make('div', 'more'));
"""
AROUND_TREE = """() => {
  document.normalize();
  const ours = (node) => ['SCRIPT', 'STYLE', 'META', 'LINK'].includes(node.nodeName);
  const allTold = (nodes) => [...nodes].filter((node) => !ours(node) && (node.nodeType !== 3 || node.data.trim()))
    .map((node) => node.nodeType === 3 ? node.data.trim() : [node.nodeName, ...allTold(node.childNodes)]);
  return allTold([document.documentElement]);
}"""


def test_what_stands_beside_the_body_is_rendered_there(recording_browser, site):
    site.pages["/"] = PAGE % AROUND
    trees: list = []
    session = recording_browser.record(lambda page: trees_of(page, trees, AROUND_TREE), url=site.origin + "/")
    assert shown_trees(recording_browser, session, AROUND_TREE) == trees and len(trees) == 2


CLOSED = """
  const host = make('section'), root = host.attachShadow({ mode: 'closed' });
  root.append(make('p', 'a', make('div', 'in a closed root'), 'b'), make('pre', '\\n'.repeat(90)));
  root.lastChild.style = 'height: 60px; overflow: auto';
  place.append(host);
  root.lastChild.scrollTop = 70;
"""


def test_a_closed_root_is_rendered_as_it_was(recording_browser, site):
    """A paragraph that holds a block, and how far something is scrolled: to both our script has to reach."""
    site.pages["/"] = PAGE % CLOSED

    async def user_actions(page):
        await closed_root_found(page, "section")
        await page.click("#b")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert shown_trees(recording_browser, session, """() => {
      const [paragraph, scroller] = document.querySelector('section').shadowRoot.children;
      return [paragraph.textContent, paragraph.children.length, scroller.scrollTop];
    }""") == [["ain a closed rootb", 1, 70]]


FRAMES = """
  const frame = (doctype) => {
    const element = make('iframe');
    element.srcdoc = `${doctype}<main>x</main><script>
      const make = (tag, ...inner) => {
        const element = document.createElement(tag);
        element.append(...inner);
        return element;
      };
      document.querySelector('main').append(make('p', 'a', make('div', 'in a frame'), 'b'));
    <` + '/script>';
    return element;
  };
  const written = make('iframe');
  place.append(make('p', make('div', frame('<!DOCTYPE html>'))));
  place.append(make('a', make('a', frame('<!DOCTYPE html>'), written)));
  written.contentDocument.write('<main><table></table></main>');
  written.contentDocument.querySelector('table').append(written.contentDocument.createElement('div'));
  written.contentDocument.close();
"""
FRAME_TREES = """() => {
  const allTold = (nodes) => [...nodes].map((node) => node.nodeType === 3 ? node.data : node.contentDocument
    ? [node.contentDocument.compatMode, ...allTold(node.contentDocument.querySelector('main').childNodes)]
    : [node.nodeName, ...allTold(node.childNodes)]);
  return allTold([document.querySelector('#place')]).map((tree) => JSON.stringify(tree));
}"""


def test_frames_in_what_is_moved_are_rendered_as_they_were(recording_browser, site):
    """Also one in quirks mode, which our script writes; what is nested in them is, too."""
    site.pages["/"] = PAGE % FRAMES
    trees: list = []
    session = recording_browser.record(lambda page: trees_of(page, trees, FRAME_TREES, 1), url=site.origin + "/")
    assert shown_trees(recording_browser, session, FRAME_TREES) == trees
    assert trees[0][0].count("CSS1Compat") == 2 and trees[0][0].count("BackCompat") == 1


# Any tree: `seed` chooses among elements, some with roots of their own. What is HTML's in a drawing is shown by no
# browser, and its text does not tell whose it is.
ANY = """
  const NAMES = `p div span a button form li ul dl dd dt nobr b i h1 h2 table tbody tr td th thead caption colgroup col
    select option optgroup label input br hr section ruby rt rp rb pre details summary fieldset object center menu
    svg:svg svg:g svg:a svg:foreignObject svg:desc`.split(/\\s+/);
  let seed = 0;
  const chosen = (count) => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8) % count;
  const grown = (depth, parent) => {
    const drawn = parent.namespaceURI.endsWith('svg') && !['foreignObject', 'desc'].includes(parent.localName);
    const name = NAMES[chosen(NAMES.length)];
    const element = make(drawn || name === 'svg:svg' ? name : name.replace('svg:', 'x-'));
    if (['input', 'br', 'hr', 'col'].includes(name)) return element;
    for (let count = depth > 6 ? 0 : chosen(4); count > 0; count--) {
      element.append(chosen(3) ? grown(depth + 1, element) : `text ${chosen(99)} `);
    }
    if (name === 'div' && !drawn && chosen(4) === 0) {
      element.attachShadow({ mode: 'open' }).append(grown(depth + 1, element));
    }
    return element;
  };
  const grow = () => {
    seed++;
    place.replaceChildren(...Array.from({ length: 12 }, () => grown(0, place)));
  };
  grow();
  b.onclick = grow;
"""
ANY_TREE = """() => {
  const allTold = (nodes, drawn) => {
    nodes?.[0]?.parentNode.normalize();
    return [...nodes ?? []].map((node) => node.nodeType === 3 ? node.data : [
      drawn ? node.nodeName.toUpperCase() : node.nodeName, ...allTold(node.shadowRoot?.childNodes, drawn),
      ...allTold(node.childNodes, drawn || node.nodeName === 'svg')]);
  };
  return allTold([document.querySelector('main')], false);
}"""


def test_any_tree_is_rendered_as_it_was(recording_browser, site):
    site.pages["/"] = PAGE % ANY
    trees: list = []
    session = recording_browser.record(lambda page: trees_of(page, trees, ANY_TREE, 20), url=site.origin + "/")
    for number, (tree, shown) in enumerate(zip(trees, shown_trees(recording_browser, session, ANY_TREE), strict=True)):
        assert shown == tree, number


def test_what_may_not_stand_in_a_drawing_does_not_end_it(recording_browser, site):
    """Animations are left out: what is drawn behind them is still part of the drawing."""
    site.pages["/"] = PAGE % """
      place.append(make('svg:svg', make('svg:circle', make('svg:animate')), make('svg:set'), make('svg:rect')));
    """
    inside = "() => [document.querySelector('rect').parentNode.nodeName, document.querySelector('rect').namespaceURI]"
    trees: list = []
    session = recording_browser.record(lambda page: trees_of(page, trees, inside, 1), url=site.origin + "/")
    assert shown_trees(recording_browser, session, inside) == trees and trees[0][0] == "svg"
