"""Choosing a target in the page's tree: what it shows, level by level, and by keyboard alone in a real Chromium."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from curator_web import create_app
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.web.review import tree
from tests.support.curator.curator_fixtures import BOX, action, dom, element, make_recording, pointer, serving

LINKS = 7


def row(uid: str, tag: str, name: str = "", frame: tuple = (), **changes) -> dict:
    return {"uid": uid, "tag": tag, "role": "", "name": name, "frame": list(frame), "bbox": BOX, "visible": True,
            "clickable": tag == "a"} | changes


PAGE = ('<header data-demotape-uid="4" id="top"><h1 data-demotape-uid="5">Offers</h1></header>'
        '<div data-demotape-uid="6" class="hidden"><p data-demotape-uid="60">Nobody sees this</p></div>'
        '<main data-demotape-uid="7" class="wide list"><ul data-demotape-uid="8">'
        + "".join(f'<li data-demotape-uid="1{n}"><a data-demotape-uid="2{n}" href="/{n}">Offer {n}</a></li>'
                  for n in range(LINKS)) +
        '</ul></main><iframe data-demotape-uid="9" srcdoc="&lt;html&gt;&lt;body&gt;'
        '&lt;button data-demotape-uid=&quot;2&quot;&gt;Pay&lt;/button&gt;&lt;/body&gt;&lt;/html&gt;"></iframe>'
        '<x-card data-demotape-uid="30"><template shadowrootmode="open"><b data-demotape-uid="31">Inner</b></template>'
        '</x-card>')
TABLE = [row("4", "header", "Top"), row("5", "h1", "Offers"), row("7", "main"),
         *(row(f"2{n}", "a", f"Offer {n}", bbox=BOX | {"y": 100 + 50 * n}) for n in range(LINKS)),
         row("9", "iframe"), row("2", "button", "Pay", ("9",)), row("31", "b", "Inner"),
         row("60", "p", "Nobody sees this", visible=False)]


def recorded(folder, name: str = "rec-1", body: str = PAGE, table: object = TABLE, page: bytes | None = None):
    """A recording with one click, on the third offer."""
    def turns(writer):
        turn = action(writer, 1, "click", pointer(), element=element(uid="22", tag="a", name="Offer 2"))
        turn["state"] |= {"dom": writer.blob(page or dom(body)), "elements": writer.blob(json.dumps(table).encode())}
        return [turn, action(writer, 2, "submit", {})]
    return make_recording(folder, recording_id=name, make_turns=turns)


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    yield app
    app.extensions["demotape"].db.close()


def taken_in(app, path) -> str:
    services = app.extensions["demotape"]
    return import_recording(services.db, services.store, path).id


def lines(html: str) -> list[tuple[int, str]]:
    """Level and text of each line."""
    return [(int(level), re.sub(r"\s+", " ", re.sub("<.*?>", "", text)).strip()) for level, text in
            re.findall(r'aria-level="(\d+)".*?class="node-name"[^>]*>(.*?)</span></li>', html, re.S)]


# ---- what is shown -------------------------------------------------------------------------------------------------


def test_the_tree_is_open_at_the_target_and_leaves_out_what_was_not_in_sight(app, tmp_path):
    taken_in(app, recorded(tmp_path))
    page = app.test_client().get("/demonstrations/rec-1?view=tree").text
    assert lines(page) == [
        (1, "html"), (2, "body"), (3, "header#top Top"), (3, "main.wide"), (4, "ul"),
        *[each for n in range(LINKS) for each in ((5, "li"), *([(6, "a Offer 2 target now")] if n == 2 else []))],
        (3, "iframe"), (3, "x-card")]
    assert page.count('aria-selected="true"') == 1 and "Nobody sees" not in page.partition('role="tree"')[2]


def test_levels_are_asked_for_one_by_one(app, tmp_path):
    taken_in(app, recorded(tmp_path))
    client = app.test_client()

    def asked(**parameters) -> list[tuple[int, str]]:
        return lines(client.get("/demonstrations/rec-1/tree", query_string={"turn": "t1"} | parameters).text)

    def number(text: str) -> int:
        page = client.get("/demonstrations/rec-1/tree?turn=t1&uid=31").text
        return int(re.search(rf'data-node="(\d+)"[^§]*?{re.escape(text)}', page.rpartition(text)[0].rpartition("<li")[1]
                             + page.rpartition(text)[0].rpartition("<li")[2] + text)[1])
    assert asked(node=number("header")) == [(4, "h1 Offers")]
    assert asked(node=number("iframe")) == [(4, "html")]
    assert asked(uid="31")[-3:] == [(3, "x-card"), (4, "shadow root"), (5, "b Inner")]
    assert asked(uid="2")[-5:-1] == [(3, "iframe"), (4, "html"), (5, "body"), (6, "button Pay")]
    for wrong in ({"node": 999}, {"node": -1}, {}, {"node": 0, "start": -1}, {"node": 0, "start": 10**9},
                  {"node": "x"}):
        assert client.get("/demonstrations/rec-1/tree", query_string={"turn": "t1"} | wrong).status_code == 404, wrong
    assert client.get("/demonstrations/nowhere/tree?turn=t1&node=0").status_code == 404


def test_a_long_level_comes_in_parts(app, tmp_path):
    count = 2 * tree.LEVEL + 5
    body = "".join(f'<p data-demotape-uid="a{n}">P {n}</p>' for n in range(count))
    taken_in(app, recorded(tmp_path, body=body, table=[row(f"a{n}", "p", f"P {n}") for n in range(count)]))
    client = app.test_client()
    page = client.get("/demonstrations/rec-1/tree?turn=t1&uid=none").text
    assert len(lines(page)) == 2 + tree.LEVEL + 1 and lines(page)[-1] == (3, f"{tree.LEVEL + 5} more")
    node, start = re.search(r'data-node="(\d+)" data-start="(\d+)"', page).groups()
    last = client.get(f"/demonstrations/rec-1/tree?turn=t1&node={node}&start={2 * tree.LEVEL}").text
    assert start == str(tree.LEVEL) and lines(last) == [(3, f"p P {n}") for n in range(2 * tree.LEVEL, count)]
    far = lines(client.get(f"/demonstrations/rec-1/tree?turn=t1&uid=a{count - 1}").text)
    assert len(far) == 2 + tree.LEVEL + 1  # the element itself is on the tree's next part


def test_hostile_pages_are_shown_as_text_or_refused(app, tmp_path):
    for name, depth in (("deep", 200), ("deeper", 5000)):
        body = '<div data-demotape-uid="d">' * depth + '<a data-demotape-uid="22">x</a>'
        taken_in(app, recorded(tmp_path, name, body, [row("22", "a", "x")]))
    taken_in(app, recorded(tmp_path, "script", '<a data-demotape-uid="22" id="\'&quot;><script>" class="<i>">x</a>',
                           [row("22", "a", "<script>alert(1)</script>", role="<b>")]))
    for number, table in enumerate(({"x": 1}, [1], "x", [{"uid": "22"}], [row("22", "a", bbox={})])):
        taken_in(app, recorded(tmp_path, f"table-{number}", table=table))
    taken_in(app, recorded(tmp_path, "bytes", page=bytes(range(256)) * 50))
    client = app.test_client()
    assert lines(client.get("/demonstrations/deep/tree?turn=t1&uid=22").text)[-1] == (203, "a x target now")
    assert client.get("/demonstrations/deeper?view=tree").status_code == 200
    shown = client.get("/demonstrations/script/tree?turn=t1&uid=22").text
    assert "<script>" not in shown and "<i>" not in shown and "<b>" not in shown and "&lt;script&gt;" in shown
    for number in range(5):
        assert client.get(f"/demonstrations/table-{number}?view=tree").status_code in (200, 400)
    assert client.get("/demonstrations/bytes?view=tree").status_code == 200


def test_a_page_of_50000_elements_is_read_once(app, tmp_path):
    body = "".join(f'<div data-demotape-uid="c{n}" class="row item"><a data-demotape-uid="b{n}" href="/{n}">Item {n}'
                   "</a></div>" for n in range(25_000))
    table = [row(f"b{n}", "a", f"Item {n}") for n in range(0, 25_000, 50)]
    taken_in(app, recorded(tmp_path, body=body, table=table))
    client = app.test_client()

    def answer(query: str) -> str:
        reply = client.get(f"/demonstrations/rec-1/tree?turn=t1&{query}")
        assert reply.status_code == 200
        return reply.text

    assert len(lines(answer("uid=b24000"))) > 200
    reads = tree._cached.cache_info().misses
    for number in range(20):
        answer(f"node={number + 3}")
    assert tree._cached.cache_info().misses == reads


# ---- in the browser ------------------------------------------------------------------------------------------------


@pytest.fixture
def page(app, browser, tmp_path) -> Iterator[Page]:
    """The review page of a recording, with the tree not open yet."""
    taken_in(app, recorded(tmp_path))
    with serving(app) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(f"{address}demonstrations/rec-1")
        yield page
        context.close()
    assert problems == []


def focused(page: Page):
    return expect(page.locator("#tree :focus .node-name"))


def test_the_tree_is_walked_by_keyboard_alone(page, app):
    page.keyboard.press("t")
    expect(page.locator("#target-search")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+T")
    focused(page).to_have_text(re.compile("a Offer 2"))  # the present target
    for key, text in (("ArrowUp", "li"), ("ArrowLeft", "li"), ("ArrowLeft", "ul"), ("Home", "html"), ("End", "x-card"),
                      ("ArrowRight", "x-card")):
        page.keyboard.press(key)
        focused(page).to_have_text(text)
    expect(page.locator("#tree :focus")).to_have_attribute("aria-expanded", "true")
    for key, text in (("ArrowRight", "shadow root"), ("h", "html"), ("h", "header#top Top"), ("ArrowDown", "main.wide"),
                      ("ArrowLeft", "main.wide")):
        page.keyboard.press(key)
        focused(page).to_have_text(text)
    expect(page.locator("#tree [role=treeitem]", has_text="Offer")).to_have_count(0)  # closed
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tree :focus + li")).to_have_text("ul")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tree :focus + li")).to_have_text("li")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("*")  # opens all its siblings
    expect(page.locator("#tree [role=treeitem]", has_text="Offer")).to_have_count(LINKS)
    page.keyboard.type("offer 5")
    focused(page).to_have_text("a Offer 5")
    expect(page.locator("#tree-box")).to_have_attribute("y", "350")
    with page.expect_response(re.compile("/edits$")):
        page.keyboard.press("Enter")
    assert current(app.extensions["demotape"].db, "rec-1")["turns"][0]["element"]["uid"] == "25"
    expect(page.locator(".element")).to_contain_text("Offer 5")


def test_the_picture_and_the_tree_point_at_each_other(page, app):
    page.keyboard.press("Shift+T")
    focused(page).to_have_text(re.compile("a Offer 2"))
    expect(page.locator("#tree-box")).to_have_attribute("y", "200")
    page.locator("#tree [role=treeitem]", has_text="header").hover()
    expect(page.locator("#tree-box")).to_have_attribute("y", str(BOX["y"]))
    picture = page.locator("#screen-picture").bounding_box()
    scale = picture["width"] / 1280
    at = picture["x"] + (BOX["x"] + 5) * scale, picture["y"] + (100 + 50 * 6 + 5) * scale
    page.mouse.move(*at)  # its line is not on the tree yet
    expect(page.locator("#tree .pointed")).to_have_text("a Offer 6")
    with page.expect_response(re.compile("/edits$")):
        page.mouse.click(*at)
    assert current(app.extensions["demotape"].db, "rec-1")["turns"][0]["element"]["uid"] == "26"


def test_a_line_is_opened_and_chosen_by_mouse(page, app):
    page.keyboard.press("Shift+T")
    page.locator("#tree [role=treeitem]", has_text="header").locator(".twist").click()
    expect(page.locator("#tree [role=treeitem]", has_text="h1")).to_be_visible()
    page.locator("#tree [role=treeitem]", has_text="h1").click()
    with page.expect_response(re.compile("/edits$")):
        page.get_by_role("button", name="Set as target").click()
    assert current(app.extensions["demotape"].db, "rec-1")["turns"][0]["element"]["uid"] == "5"
