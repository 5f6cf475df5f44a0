"""Every page in a real Chromium, light and dark, wide and narrow: axe-core finds nothing, the keyboard suffices."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from curator_web import create_app, vendor
from curator_web.demonstrations.library.library import current, import_recording, listed
from curator_web.demonstrations.listing import listing
from curator_web.demonstrations.listing.comments import add_comment
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.jobs import bulk_changes
from curator_web.web.shell.languages import COOKIE
from demotape.importing import import_package
from pipeline.judging.model_endpoint import model_settings
from tests.support.axe import at_all_widths, problems
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import (
    HOSTILE,
    Site,
    both_databases,
    database_of,
    hostile_turns,
    make_recording,
    serving,
)
from tests.support.curator.edits import edit
from tests.support.curator.populated import populate
from tests.support.curator.team_fixtures import ANN, BOB, LEA, PASSWORD, VAL, add_people
from tests.support.samples.packages import pack

PAGES = {
    "list": "/", "found": "/?status=draft&sort=turns", "none": "/?search=zebra",
    "review": "/demonstrations/rec-1?turn=t3", "pictures": "/demonstrations/rec-1?turn=t3&view=pictures",
    "targets": "/demonstrations/rec-1?turn=t3&view=targets", "tree": "/demonstrations/rec-1?turn=t3&view=tree",
    "after": "/demonstrations/rec-1?turn=t3&view=after", "dom": "/demonstrations/rec-1?turn=t3&view=dom",
    "changes": "/demonstrations/rec-2/changes", "timeline": "/demonstrations/filmed/timeline?turn=t3",
    "timeline-read-only": "/demonstrations/rec-3/timeline",
    "sent-back": "/demonstrations/rec-2", "questions": "/questions", "dashboard": "/dashboard", "exports": "/exports",
    "import": "/import", "missing": "/demonstrations/nowhere", "account": "/account", "people": "/people",
    "person": "/people/ann", "labels": "/labels", "projects": "/projects", "project": "/projects/main",
    "settings": "/projects/main/settings", "scheme": "/projects/main/scheme",
    "scheme-answers": "/projects/main/scheme/answers", "preset": "/exports?preset=1",
    "guidelines": "/projects/main/guidelines", "deleted": "/deleted", "tasks": "/tasks", "task": "/tasks/task-2",
    "notifications": "/notifications", "webhooks": "/webhooks", "webhook": "/webhooks/1",
    "withdraw": "/deleted/withdrawal/rec-1",
    "task-proposals": "/tasks/proposals", "task-request": "/tasks/proposals?count=5&site=shop.example",
    "pairs": "/pairs", "jobs": "/jobs", "pair": "/pairs/rec-5",
    "training": "/training/rec-3~t1", "known": "/demonstrations/rec-3", "answer": "/demonstrations/rec-3~t1",
    "network": "/demonstrations/rec-4/network?turn=t3", "kept": "/demonstrations/rec-4?turn=t3",
    "proof": "/demonstrations/rec-4/proof", "not-run": "/demonstrations/rec-1/proof", "runs": "/runs",
    "outcome": "/demonstrations/rec-1/outcome", "outcome-form": "/demonstrations/rec-1/outcome?new=request",
    "beside": "/demonstrations/rec-1/beside/rec-2", "tour": "/demonstrations/rec-1?tour=3",
    "judges": "/judging", "to-label": "/judging/rec-5",
    "rooms": "/rooms", "room": "/rooms/room-1", "observed": "/rooms/room-2", "room-link": "/room-links/link-1",
}


@pytest.fixture(scope="module")
def site(request, tmp_path_factory) -> Iterator[Site]:
    assert vendor.main() == 0
    folder = tmp_path_factory.mktemp("pages")
    app = create_app(database_of(request), folder / "data", import_package=import_package,
                     run_again=lambda *_: None, model=model_settings("http://127.0.0.1:9/v1", "kind-model"))
    services = app.extensions["demotape"]
    add_people(app)
    populate(services, folder)
    with serving(app) as address:
        yield Site(address.rstrip("/"), services.db, services.store)
    services.jobs.close()
    services.db.close()


@pytest.fixture(scope="module")
def cookies(browser, site) -> dict[str, list]:
    """The cookies of who has signed in, by name."""
    found = {}
    for name in ("ann", "lea"):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{site.url}/")
        expect(page.locator("#name")).to_be_focused()  # by the browser, with the first picture of the page
        page.keyboard.type(name)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Demonstrations")).to_be_visible()
        found[name] = context.cookies()
        context.close()
    return found


def test_nothing_of_a_hostile_recording_runs(browser, site, cookies, tmp_path):
    path = make_recording(tmp_path, recording_id="hostile", task=HOSTILE, make_turns=hostile_turns)
    import_recording(site.db, site.store, path, recorded_by="lea")
    add_comment(site.db, "hostile", VAL, HOSTILE, kind="question")
    page = opened(browser, cookies["lea"])
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for address in ("/", "/?search=script", "/questions", "/demonstrations/hostile", "/demonstrations/hostile/changes",
                    "/demonstrations/hostile/timeline", "/dashboard"):
        page.goto(site.url + address)
        page.keyboard.press("Tab")
        assert page.title() != "owned"  # what its scripts would set; the words themselves may stand there
    assert all(url.startswith(site.url) for url in asked)
    page.context.close()


def opened(browser: Browser, cookies: list, width: int = 1280, scheme: str = "light") -> Page:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    context.add_cookies(cookies)
    return context.new_page()


def some_pages(config: pytest.Config, offset: int) -> dict[str, str]:
    """Every page; in `make test` every second one, from an offset."""
    return PAGES if config.option.all else dict(list(PAGES.items())[offset::2])


def test_axe_finds_nothing_on_any_page_and_none_is_wider_than_its_window(browser, site, cookies, pytestconfig):
    """At three widths, of which no script of a page asks (the next test), so that each page is loaded once; and in both
    schemes, of which each is the one that axe looks at in full at one of the widths."""
    page = opened(browser, cookies["lea"])
    found = {}
    for name, address in some_pages(pytestconfig, 0).items():
        page.goto(site.url + address)
        found |= at_all_widths(page, name)
    page.context.clear_cookies()
    page.goto(f"{site.url}/sign-in")
    found |= at_all_widths(page, "sign-in")
    page.context.close()
    assert {name: told for name, told in found.items() if told} == {}


def test_no_page_in_german_is_wider_than_a_phone(browser, site, cookies, pytestconfig):
    """Its words are the longest."""
    page = opened(browser, [*cookies["lea"], {"name": COOKIE, "value": "de", "url": site.url}], width=390)
    wide = []
    for name, address in {**some_pages(pytestconfig, 1), "sign-in": "/sign-in"}.items():
        if name == "sign-in":
            page.context.clear_cookies(name="demotape")
        page.goto(site.url + address, wait_until="domcontentloaded")
        assert page.locator("html").get_attribute("lang") == "de", name
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    page.context.close()
    assert wide == []


def test_the_language_is_chosen_at_the_foot_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}/sign-in?next=/tasks")
    page.get_by_role("button", name="Español").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Iniciar sesión")).to_be_visible()
    assert page.url == f"{site.url}/sign-in?next=/tasks"
    expect(page.get_by_role("button", name="Español")).to_have_attribute("aria-current", "true")
    context.close()


def test_no_script_asks_how_wide_the_window_is():
    """But when it is resized, or a key is pressed: what CSS makes of a width is the same, whether a page was loaded at
    it or came to it."""
    asks = re.compile(r"\b(?:innerWidth|outerWidth|availWidth|visualViewport|screen\.width)\b|matchMedia\([^)]*width")
    for path in (ROOT / "curator_web" / "web").rglob("*"):
        if path.suffix in (".js", ".html") and "vendor" not in path.parts:
            assert not asks.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accounts_are_seen_to_on_a_phone(browser, site, cookies, scheme):
    page = opened(browser, cookies["lea"], 390, scheme)
    for name in ("account", "people", "person"):
        page.goto(site.url + PAGES[name])
        assert problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
    for button in page.get_by_role("button", name="Revoke").all():
        expect(button).to_be_in_viewport(ratio=1)
    page.context.close()


def test_a_button_that_a_script_enables_is_readable_at_once(browser, site, cookies):
    page = opened(browser, cookies["lea"])
    page.goto(site.url + PAGES["tree"])
    button = page.get_by_role("button", name="Set as target")
    expect(button).to_be_enabled()
    at_once, at_last = button.evaluate("""async (button) => {
      const ground = () => getComputedStyle(button).backgroundColor;
      const settled = () => Promise.all(button.getAnimations().map((each) => each.finished));
      button.disabled = true;
      await settled();
      button.disabled = false;
      const atOnce = ground();
      await settled();
      return [atOnce, ground()];
    }""")
    assert at_once == at_last  # its letters have the colour for that ground from the first moment
    page.context.close()


def press(page: Page, key: str) -> None:
    """Press a key of the page once its script is there."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)


def test_a_member_is_mentioned_by_keyboard(browser, site, cookies):
    page = opened(browser, cookies["lea"])
    page.goto(f"{site.url}/demonstrations/rec-5?turn=t3")
    press(page, "m")
    field, offered = page.locator("#comment-text"), page.locator(".mention-list li")
    expect(field).to_be_focused()
    page.keyboard.type("Look @")
    expect(offered).to_have_text(["ann", "bob", "lea", "val", "wim"])
    assert problems(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    page.keyboard.type("VA")
    expect(offered).to_have_text(["val"])
    page.keyboard.press("Enter")
    expect(field).to_have_value("Look @val ")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".comment .mention")).to_have_text("@val")
    page.context.close()


@both_databases
def test_the_list_is_worked_by_keyboard(browser, site, cookies):
    page = opened(browser, cookies["lea"])
    page.goto(site.url)
    page.keyboard.press("/")
    page.keyboard.type("library")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("search=library"))
    expect(page.locator('#assign [name="list.search"]')).to_have_value("library")  # the last answer is on the page
    page.locator('input[name="id"]').focus()
    page.keyboard.press("Space")
    page.locator("#assign-to").focus()
    page.keyboard.type("bob")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("tbody td").filter(has_text="bob")).to_be_visible()
    expect(page.get_by_placeholder("Search")).to_have_value("library")
    page.get_by_role("link", name="Turns").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[aria-sort=descending]")).to_have_text(re.compile("Turns"))
    page.context.close()


def test_a_pair_is_settled_by_keyboard(browser, site, cookies, tmp_path):
    import_recording(site.db, site.store, make_recording(tmp_path, recording_id="rec-6"))
    choose(site.db, ["rec-6"], LEA)
    for name, who, turns in (("rec-6", ANN, ["t3", "t4"]), ("rec-6~2", BOB, ["t1"])):
        version = edit(site.db, name, {"op": "drop", "turns": turns}, listed(site.db, name).version, who).version
        change_status(site.db, name, "submitted", version, who)
    page = opened(browser, cookies["lea"])
    page.goto(f"{site.url}/pairs/rec-6")
    expect(page.locator("[data-difference]")).to_have_count(3)
    for key in ("2", "k", "1", "1", "2"):  # k goes back to the first, which is chosen anew
        page.keyboard.press(key)
    page.keyboard.press("w")
    expect(page.locator(".note")).to_contain_text("Settled and validated: rec-6.")
    dropped = [turn["id"] for turn in current(site.db, "rec-6")["turns"] if turn["dropped"]]
    assert dropped == ["t3"]
    page.context.close()


def test_all_that_is_found_is_changed_by_keyboard(browser, site, cookies, monkeypatch):
    monkeypatch.setattr(listing, "PAGE_SIZE", 2)
    monkeypatch.setattr(bulk_changes, "AT_ONCE", 1)
    page = opened(browser, cookies["lea"])
    page.goto(f"{site.url}/?status=draft")
    offered = page.get_by_label("Select all")
    expect(offered).to_be_hidden()
    page.get_by_label("All on this page").press("Space")
    expect(offered).to_be_visible()
    assert problems(page) == []
    page.keyboard.press("j")
    offered.press("Space")
    page.locator('input[name="id"]').first.press("Space")
    expect(offered).to_be_hidden()
    assert not offered.is_checked()
    page.locator('input[name="id"]').first.press("Space")
    offered.press("Space")
    page.locator("#assign-to").select_option("bob")
    page.get_by_role("button", name="Assign").press("Enter")
    sure = page.get_by_role("button", name=re.compile(r"Assign to bob \(\d+\)"))
    expect(sure).to_be_focused()
    assert problems(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#jobs tbody tr").first).to_contain_text("Changed: ", timeout=90_000)
    assert problems(page) == []
    page.context.close()


@both_databases
def test_a_sample_is_labelled_by_keyboard(browser, site, cookies):
    page = opened(browser, cookies["ann"])
    page.goto(f"{site.url}/judging")
    press(page, "n")
    expect(page).to_have_url(re.compile(r"/judging/[\w-]+$"))
    skipped = page.url
    press(page, "n")
    expect(page).not_to_have_url(skipped)
    expect(page.get_by_role("img").first).to_be_visible()
    first = page.url
    press(page, "1")
    expect(page).not_to_have_url(first)
    press(page, "u")  # back to what was labelled last
    expect(page).to_have_url(first)
    expect(page.get_by_role("button", name="Done", exact=True)).to_have_attribute("aria-pressed", "true")
    press(page, "2")
    expect(page).not_to_have_url(first)
    while page.url != f"{site.url}/judging":
        here = page.url
        page.get_by_role("button", name="Done", exact=True).press("Enter")
        expect(page).not_to_have_url(here)
    expect(page.get_by_text("There is nothing left for you to label.")).to_be_visible()
    page.keyboard.press("n")
    press(page, "u")
    expect(page).to_have_url(re.compile(r"/judging/"))
    page.context.close()


@both_databases
def test_an_annotator_works_through_the_queue_by_keyboard(browser, site, cookies):
    page = opened(browser, cookies["ann"])
    page.goto(site.url)
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/demonstrations/rec-2"))  # what was sent back comes first
    expect(page.locator("#notice")).to_contain_text("The last turn is missing")
    press(page, "s")
    expect(page).to_have_url(re.compile(r"/demonstrations/[\w-]+\?done=rec-2"))
    expect(page.locator("#notice")).to_contain_text("this is the next demonstration")
    page.get_by_role("link", name="Go back to the one before").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".bar .status")).to_have_text("Submitted")
    press(page, "a")  # takes it back
    expect(page.locator(".bar .status")).to_have_text("Draft")
    page.context.close()


@both_databases
def test_a_package_is_dropped_and_shows_up(browser, site, cookies, tmp_path):
    page = opened(browser, cookies["ann"])
    page.goto(f"{site.url}/import")
    page.locator("#package").set_input_files(pack(tmp_path / "dropped.zip"))
    page.get_by_role("button", name="Import").press("Enter")
    expect(page.locator("#jobs")).to_contain_text("dropped.zip")
    expect(page.locator("#jobs a")).to_have_text("Imported", timeout=90_000)
    page.context.close()


@both_databases
def test_an_export_shows_its_progress_and_is_downloaded(browser, site, cookies):
    page = opened(browser, cookies["lea"])
    page.goto(f"{site.url}/exports")
    page.locator("#format").select_option("webdataset")
    page.locator("#status").select_option("approved")
    page.get_by_label("not stated").uncheck()
    expect(page.locator("#counts .problem")).to_contain_text("Nothing would be exported")
    page.get_by_label("not stated").check()
    page.locator("#status").select_option("any")
    expect(page.locator("#counts .sum")).to_contain_text("reviewed")
    page.get_by_role("button", name="Begin export").press("Enter")
    link = page.locator("#jobs").get_by_role("link", name="Download")
    expect(link).to_be_visible(timeout=90_000)
    with page.expect_download() as download:
        link.press("Enter")
    assert download.value.suggested_filename.startswith("demotape-webdataset-")
    page.context.close()
