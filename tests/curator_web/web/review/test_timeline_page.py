"""The time line in a real Chromium: what a number changes is seen at once, the keyboard suffices, scripts are not
needed."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from curator_web import create_app, vendor
from curator_web.demonstrations.library.library import import_recording
from tests.support.axe import problems
from tests.support.curator.curator_fixtures import Site, filmed_recording, make_recording, serving, typed_recording

PAGE = "/demonstrations/filmed/timeline"


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    assert vendor.main() == 0
    app = create_app(data_dir=tmp_path / "data")
    services = app.extensions["demotape"]
    for path in (filmed_recording(tmp_path), make_recording(tmp_path),
                 typed_recording(tmp_path, recording_id="own", video=True)):
        import_recording(services.db, services.store, path)
    with serving(app) as address:
        yield Site(address.rstrip("/"), services.db, services.store)
    services.jobs.close()
    services.db.close()


def opened(browser: Browser, address: str, width: int = 1280, scheme: str = "light", scripts: bool = True) -> Page:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme,
                                  java_script_enabled=scripts)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.goto(address)
    return page


def place_of(page: Page, selector: str, name: str = "x") -> float:
    return float(page.locator(selector).first.get_attribute(name).rstrip("%"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800, 390])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(browser, site, width, scheme):
    for address in (f"{PAGE}?turn=t4", "/demonstrations/rec-1/timeline", "/demonstrations/own/timeline"):
        page = opened(browser, site.url + address, width, scheme)
        assert problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.complaints == []
        page.context.close()


def test_a_number_is_seen_at_once_and_saved_by_the_keyboard(browser, site):
    page = opened(browser, f"{site.url}/demonstrations/filmed?turn=t4")
    page.wait_for_load_state("load")
    page.keyboard.press("z")
    expect(page).to_have_url(re.compile("/timeline"))
    page.locator("#row-4 a").press("Enter")
    expect(page.locator("#frame-time")).to_have_text("0:06.0, page not shown")
    shown, video = place_of(page, ".shown"), page.locator("#row-4 [data-video-time]")
    frame = page.locator("#frame image").get_attribute("href")
    page.locator("#offset").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2.6")
    expect(video).to_have_text("0:06.6")
    expect(page.locator("#row-4 [data-confidence]")).to_have_text("1.00")
    expect(page.locator("#frame-time")).to_have_text("0:06.6")
    expect(page.locator("#unsaved")).to_have_text("Not saved yet")
    expect(page.locator("#frame image")).not_to_have_attribute("href", frame)
    assert place_of(page, ".shown", "width") < 100 and place_of(page, ".shown") <= shown
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#left")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#frame .outline")).to_have_attribute("x", "61")
    expect(page.locator("#cut")).to_have_attribute("viewBox", "61 50 640 360")
    page.keyboard.press("Enter")
    expect(page.locator("#place legend .word")).to_have_count(2)
    expect(page.locator("#offset")).to_have_value("2.600")
    expect(page.locator("#row-4 [data-video-time]")).to_have_text("0:06.6")
    page.wait_for_load_state("load")  # its keys work from then on
    assert page.complaints == []
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/demonstrations/filmed\?turn=t4"))
    page.context.close()


def test_numbers_that_mean_nothing_change_nothing_and_can_be_taken_back(browser, site):
    page = opened(browser, f"{site.url}{PAGE}?turn=t6")
    outline = [place_of(page, "#frame .outline", name) for name in ("x", "y", "width", "height")]
    for field, odd in (("offset", ""), ("drift", "1e9"), ("width", "-4"), ("height", "0")):
        page.locator(f"#{field}").fill(odd)
    expect(page.locator("#row-6 [data-video-time]")).to_have_text("0:08.0")
    assert [place_of(page, "#frame .outline", name) for name in ("x", "y", "width", "height")] == outline
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved: 4 of the numbers")
    expect(page.locator("#offset")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#offset-error")).to_have_text("Required.")
    assert problems(page) == []
    page.goto(f"{site.url}{PAGE}?turn=t6")
    page.locator("#left").fill("300")
    expect(page.locator("#frame .outline")).to_have_attribute("x", "300")
    page.get_by_role("button", name="As before").press("Enter")
    expect(page.locator("#frame .outline")).to_have_attribute("x", re.compile(rf"^{outline[0]:.0f}(\.0)?$"))
    expect(page.locator("#unsaved")).to_have_text("")
    page.context.close()


def test_the_cursor_goes_by_keys_and_by_the_mouse(browser, site):
    page = opened(browser, f"{site.url}{PAGE}?turn=t2")
    page.keyboard.press("j")
    expect(page.locator("[data-row][aria-current]")).to_have_attribute("id", "row-3")
    expect(page.locator("#screenshot")).to_have_attribute("alt", "Screenshot before turn 3")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator("[data-row][aria-current]")).to_have_attribute("id", "row-1")
    page.locator("#cursor").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#cursor-time")).to_have_text("0:01.3")
    expect(page.locator("#cursor")).to_have_attribute("aria-valuetext", "0:01.3")
    page.locator('[data-turn="6"]').click()
    expect(page.locator("[data-row][aria-current]")).to_have_attribute("id", "row-6")
    track = page.locator("[data-track].video")
    track.click(position={"x": 2, "y": 8})
    expect(page.locator("#cursor-time")).to_have_text(re.compile("0:00.[01]|−0:00.1"))
    assert page.complaints == []
    page.context.close()


def test_the_own_video_is_shown_where_there_is_no_other(browser, site):
    page = opened(browser, f"{site.url}/demonstrations/own/timeline")
    before = page.locator("#own-frame").get_attribute("src")
    page.locator("#cursor").focus()
    page.keyboard.press("PageUp")
    expect(page.locator("#own-frame")).not_to_have_attribute("src", before)
    assert page.locator("#own-frame").evaluate("image => image.naturalWidth") > 0
    page.context.close()


def test_it_works_without_scripts(browser, site):
    page = opened(browser, f"{site.url}{PAGE}?turn=t4", scripts=False)
    page.locator("#row-3 a").click()
    expect(page.locator("#shot-turn")).to_contain_text("turn 3")
    page.locator("#cursor").press("End")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#shot-turn")).to_contain_text("turn 6")
    page.locator("#offset").fill("2.25")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#place legend .word")).to_have_count(1)
    expect(page.locator("#row-3 [data-video-time]")).to_have_text(re.compile("0:05.[23]"))
    page.context.close()


def test_the_session_plays_as_fast_as_one_likes(browser, site):
    page = opened(browser, f"{site.url}{PAGE}?turn=t1")
    page.wait_for_load_state("load")
    play, speed = page.locator("#play"), page.locator("#speed")
    page.clock.install()
    page.clock.pause_at(time.time() + 60)  # as fast as the test, not as the machine
    expect(play).to_have_text("PlaySpace")
    page.keyboard.press(">")
    page.keyboard.press(">")
    page.keyboard.press("<")
    expect(speed).to_have_value("2")
    at = float(page.locator("#cursor").input_value())
    page.keyboard.press(" ")
    expect(play).to_have_text("PauseSpace")
    page.clock.run_for(800)
    assert float(page.locator("#cursor").input_value()) == pytest.approx(at + 1.6, abs=0.1)
    expect(page.locator("#now-turn")).to_contain_text(page.locator("#row-2 .label").inner_text())
    expect(page.locator("#now-said")).to_contain_text(page.locator("#row-1 .label").inner_text())
    play.click()
    expect(play).to_have_text("PlaySpace")
    page.clock.run_for(1000)
    assert float(page.locator("#cursor").input_value()) == pytest.approx(at + 1.6, abs=0.1)
    play.click()
    page.clock.run_for(60_000)
    expect(play).to_have_text("PlaySpace")
    assert page.locator("#cursor").input_value() == page.locator("#cursor").get_attribute("max")
    play.click()  # begins again
    page.clock.run_for(500)
    assert float(page.locator("#cursor").input_value()) < 2
    page.locator('[data-turn="3"]').click()  # goes on from there
    page.clock.run_for(100)
    assert float(page.locator("#cursor").input_value()) > 2
    expect(play).to_have_text("PauseSpace")
    page.locator("#cursor").press("ArrowLeft")
    expect(play).to_have_text("PlaySpace")
    page.reload()
    expect(speed).to_have_value("2")
    assert page.complaints == []
    page.context.close()
