"""The page for printing: every turn with its picture, nothing else, and no picture cut by the end of a page."""

import pytest
from playwright.sync_api import expect

from curator_web import create_app, vendor
from curator_web.demonstrations.library.library import import_recording
from curator_web.web.review import printing
from tests.support.axe import at_all_widths
from tests.support.curator.curator_fixtures import HOSTILE, hostile_turns, make_recording, serving
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN

PAGE_HEIGHT_PX = (279 - 2 * 14) / 25.4 * 96  # Letter without its margins, in CSS pixels
PAGE_WIDTH_PX = round((216 - 2 * 14) / 25.4 * 96)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    assert vendor.main() == 0
    folder = tmp_path_factory.mktemp("printing")
    app = create_app(None, folder / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(folder))
    import_recording(services.db, services.store, make_recording(folder, recording_id="hostile", task=HOSTILE,
                                                                 make_turns=hostile_turns))
    edit(services.db, "rec-1", {"op": "drop", "turn": "t3"}, 1, ANN)
    yield app
    services.jobs.close()
    services.db.close()


def test_all_turns_are_printed_with_whole_pictures(app, browser):
    with serving(app) as address:
        page = browser.new_page(viewport={"width": PAGE_WIDTH_PX, "height": 900})
        page.goto(f"{address}demonstrations/rec-1")
        page.get_by_role("link", name="Print").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert {name: found for name, found in at_all_widths(page, "print").items() if found} == {}
        page.set_viewport_size({"width": PAGE_WIDTH_PX, "height": 900})
        page.evaluate("window.print = () => { document.body.dataset.printed = 'yes'; }")
        page.get_by_role("button", name="Print").click()
        expect(page.locator("body")).to_have_attribute("data-printed", "yes")
        page.emulate_media(media="print")
        expect(page.locator("button, a, nav").locator("visible=true")).to_have_count(0)
        turns = page.locator(".turn")
        expect(turns).to_have_count(6)
        expect(page.locator(".turn.dropped")).to_have_count(1)
        for turn in turns.all():
            assert turn.evaluate("turn => getComputedStyle(turn).breakInside") == "avoid"
            assert turn.bounding_box()["height"] < PAGE_HEIGHT_PX / 2  # two on a page
        assert page.locator("img").evaluate_all("images => images.filter(each => each.complete && each.naturalWidth)"
                                                ".length") == 4
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        page.close()


def test_a_long_session_is_printed_in_parts(app, monkeypatch):
    monkeypatch.setattr(printing, "PART_TURNS", 4)
    client = app.test_client()
    first = client.get("/demonstrations/rec-1/print").text
    assert first.count('<li class="turn') == 4 and "Part 1 of 2" in first and 'rel="next"' in first
    second = client.get("/demonstrations/rec-1/print?part=2").text
    assert second.count('<li class="turn') == 2 and '<ol start="5">' in second and 'rel="prev"' in second
    for part in ("0", "-1", "3", "x", "9" * 30):
        assert client.get(f"/demonstrations/rec-1/print?part={part}").status_code == 200


def test_nothing_of_a_hostile_recording_is_markup(app):
    text = app.test_client().get("/demonstrations/hostile/print").text
    assert "<script>document" not in text and "&lt;script&gt;" in text
