"""Finding a demonstration and going through its turns, in a real Chromium, over HTTP, with trusted keys and mouse."""

import re

import cv2
import numpy
import pytest
from playwright.sync_api import expect

from curator_web import create_app
from curator_web.app import dom_id
from curator_web.demonstrations.library.library import import_recording
from curator_web.users import Account
from curator_web.users.projects import write_guidelines
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import (
    BOX,
    HOSTILE,
    TASK,
    action,
    both_databases,
    dom,
    hostile_turns,
    make_recording,
    pointer,
)

from .conftest import open_review, saved, selected

# ---- the list -----------------------------------------------------------------------------------------------------


def test_list_says_what_to_do_then_finds_and_opens(page, browser, tmp_path, site, demonstration):
    empty = create_app(data_dir=tmp_path / "empty").test_client().get("/").text
    assert "demotape record" in empty and "demotape import" in empty
    page.goto(site.url)
    page.get_by_placeholder("Search").press_sequentially("zebra")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    expect(page).to_have_url(re.compile("search=zebra"))
    page.get_by_placeholder("Search").fill("anchorage")
    page.get_by_text("Draft", exact=True).first.click()
    expect(page).to_have_url(re.compile("status=draft"))
    page.reload()
    expect(page.get_by_placeholder("Search")).to_have_value("anchorage")
    page.locator(f'a[href$="{demonstration}"]').click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TASK)


# ---- looking at turns ---------------------------------------------------------------------------------------------


@both_databases
def test_keys_step_through_turns_and_the_address_follows(page, site, demonstration):
    open_review(page, site, demonstration)
    for key, turn in (("j", "t2"), ("ArrowDown", "t3"), ("k", "t2"), ("End", "t6"), ("ArrowUp", "t5"), ("Home", "t1")):
        page.keyboard.press(key)
        expect(page.locator("#turn")).to_have_attribute("data-turn", turn)
        expect(page.locator("#turns [aria-current]")).to_have_attribute("href", re.compile(f"turn={turn}$"))
    expect(page).to_have_url(re.compile("turn=t1$"))
    for _ in range(5):
        page.keyboard.press("j")  # faster than the answers come
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t6")
    page.locator("#turns .row").nth(2).click()
    expect(page).to_have_url(re.compile("turn=t3$"))
    page.reload()
    assert selected(page) == "t3"


def test_a_load_shows_where_it_led(page, site, demonstration):
    open_review(page, site, demonstration)
    loads = [number for number, turn in enumerate(site.turns(demonstration)) if turn.get("intent") == "load"]
    page.locator("#turns .row").nth(loads[0]).click()
    after = page.get_by_role("figure").filter(has_text="The page it led to").locator("img")
    expect(after).to_be_visible()
    before = page.get_by_role("figure").filter(has_text="Before").locator("img")
    assert before.get_attribute("src") != after.get_attribute("src")
    page.keyboard.press("j")
    expect(page.get_by_text("The page it led to")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 800])
def test_box_and_pointer_stand_where_they_were_at_any_width(page, site, demonstration, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_review(page, site, demonstration, "t3")
    page.wait_for_function("document.querySelector('#screen-picture img').complete")
    picture = page.locator("#screen-picture img").bounding_box()
    scale = picture["width"] / 1280
    assert picture["height"] == pytest.approx(720 * scale, abs=1)
    box = page.locator("#overlay .box").evaluate("""(box) => {
        const { x, y, width, height } = box.getBBox(), { a, d, e, f } = box.getScreenCTM();
        return { x: e + x * a, y: f + y * d, width: width * a, height: height * d }; }""")
    for name, start in (("x", picture["x"]), ("y", picture["y"]), ("width", 0), ("height", 0)):
        assert box[name] == pytest.approx(start + BOX[name] * scale, abs=1.5), name
    assert float(page.locator("#overlay .pointer-dot").get_attribute("cx")) == 400
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_snapshot_is_shown_in_a_sandbox_at_its_width(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    page.keyboard.press("v")
    frame = page.frame_locator("#screen-dom iframe")
    expect(frame.locator("#from")).to_have_value("Anchorage")
    assert frame.locator("#from").evaluate("element => innerWidth") == 1280
    assert frame.locator("#from").evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    outer, inner = page.locator("#screen-dom").bounding_box(), page.locator("#screen-dom iframe").bounding_box()
    assert inner["width"] == pytest.approx(outer["width"], abs=3)
    assert page.locator("#screen-dom iframe").get_attribute("sandbox") == "allow-scripts"


def test_snapshot_is_scrolled_as_the_page_was(page, site, tmp_path):
    body = ('<p style="height:1500px">Above</p><div data-demotape-uid="20" data-demotape-scroll="0,700" '
            'style="height:200px;overflow:auto"><p style="height:700px">Within</p><button data-demotape-uid="9">Buy'
            '</button><p style="height:900px">Below</p></div><p style="height:2000px" id="far">Far below</p>'
            '<style>:target{color:rgb(1, 2, 3)}</style>')

    def scrolled(writer):
        turn = action(writer, 1, "click", pointer(), body)
        text = dom(body).replace(b"<body", b'<body data-demotape-scroll="0,1400"')
        return [turn | {"state": turn["state"] | {"dom": writer.blob(text), "url": "https://air.example/book#far"}}]

    import_recording(site.db, site.store, make_recording(tmp_path, recording_id="scrolled", make_turns=scrolled))
    open_review(page, site, "scrolled")
    page.keyboard.press("v")
    frame = page.frame_locator("#screen-dom iframe")
    expect(frame.get_by_text("Far below")).to_have_css("color", "rgb(1, 2, 3)")
    expect(frame.get_by_role("button", name="Buy")).to_be_in_viewport()


def test_what_an_action_changed_is_outlined_until_that_is_put_away(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("l")
    outlines = page.locator("#screen-after .changed")
    expect(outlines.locator("rect.change")).to_have_count(1)  # the number of the page in its head
    expect(page.locator(".caption")).to_contain_text("1 region, less than 1 % of the picture")
    page.keyboard.press("Shift+C")
    expect(outlines).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("l")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    expect(outlines).to_be_hidden()
    page.get_by_role("button", name="Show outlines").click()
    expect(page.get_by_role("button", name="Hide outlines")).to_be_visible()
    expect(outlines).to_be_visible()


def test_pictures_that_cannot_be_compared_are_shown_without_outlines(page, site, tmp_path):
    def turns(writer):
        made = [action(writer, number, "click", pointer()) for number in (1, 2, 3, 4)]
        small = cv2.imencode(".jpg", numpy.zeros((9, 16, 3), numpy.uint8))[1].tobytes()
        made[1]["state"]["screenshot"] = writer.blob(small)
        made[3]["state"]["screenshot"] = made[2]["state"]["screenshot"]
        return made

    import_recording(site.db, site.store, make_recording(tmp_path, recording_id="sizes", make_turns=turns))
    for turn, said in (("t1", "cannot be compared"), ("t3", "are the same")):
        page.goto(f"{site.url}demonstrations/sizes?turn={turn}&view=after")
        expect(page.locator(".caption")).to_contain_text(f"The two pictures {said}")
        expect(page.locator("#screen-after img")).to_be_visible()
        expect(page.locator(".changed")).to_have_count(0)


def test_help_lists_every_key(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_be_visible()
    listed = {text.strip() for text in sheet.locator("kbd").all_inner_texts()}
    shown = {text.strip() for text in page.locator("#workspace kbd").all_inner_texts()}
    assert {key for text in shown for key in re.split(r"(?<=Alt) ", text)} - {"Alt"} <= listed | {"↑", "↓"}
    documented = set(re.findall("`(.*?)`", (ROOT / "docs" / "review.md").read_text()))
    assert {key.replace("⇧", "Shift") for key in listed} <= documented
    sheet.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert selected(page) == "t4"


def test_the_language_is_chosen_below_the_keys(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    for language, heading in (("Deutsch", "Tasten"), ("English", "Keys")):
        page.keyboard.press("?")
        with page.expect_navigation():  # the next key is pressed when scripts listen
            page.get_by_role("dialog").get_by_role("button", name=language).click()
        expect(page.locator("#help-title")).to_have_text(heading)
        assert selected(page) == "t4"


def test_the_guidelines_stand_beside_the_work(page, site, demonstration):
    write_guidelines(site.db, "Keep **every** click.", Account("lea", "lead"))
    open_review(page, site, demonstration)
    page.keyboard.press("Shift+G")
    guide = page.get_by_role("complementary", name="Guidelines")
    expect(guide.get_by_text("Keep every click.")).to_be_visible()
    page.keyboard.press("j")  # the work goes on
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t2")
    page.keyboard.press("Shift+G")
    expect(guide).to_be_hidden()


# ---- hostile recordings -------------------------------------------------------------------------------------------


def test_hostile_recording_runs_nothing(page, site, tmp_path):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    within: list[str] = []  # where the captured page's frame was
    page.on("framenavigated", lambda frame: within.append(frame.url) if frame.parent_frame else None)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    path = make_recording(tmp_path, recording_id="hostile", task=HOSTILE, make_turns=hostile_turns)
    import_recording(site.db, site.store, path)
    page.goto(site.url)
    expect(page.get_by_role("link", name="<script>document.title='owned'").first).to_be_visible()
    for turn in site.turns("hostile"):
        page.goto(f"{site.url}demonstrations/hostile")
        page.locator(f"#row-{dom_id(turn['id'])} a").click()
        expect(page.locator("#turn")).to_have_attribute("data-turn", turn["id"])
        assert page.title() != "owned"
        if turn["type"] == "browser":
            page.keyboard.press("v")
            frame = page.frame_locator("#screen-dom iframe").locator("body[data-demotape-uid]")
            expect(frame).to_be_attached()
            page.locator("#screen-dom iframe").element_handle().content_frame().wait_for_load_state("load")
            assert frame.evaluate("() => document.title") != "owned"
            if turn["intent"] != "load":
                expect(frame).to_have_css("background-color", "rgb(1, 2, 3)")
        with saved(page):
            page.keyboard.press("d")
        expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert within and all(url.startswith(f"{site.url}snapshot/hostile/") for url in within)
    assert dialogs == [] and not [url for url in requests if "evil" in url or not url.startswith((site.url, "data:"))]
