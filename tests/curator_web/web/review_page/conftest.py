"""The review app with one page of a real Chromium, and what the tests of the review page do and look at."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from curator_web import create_app, vendor
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing.listing import listing
from tests.support.curator.curator_fixtures import Site, database_of, make_recording, serving

EDITS = re.compile("/edits$")


@pytest.fixture(scope="module")
def site(request, tmp_path_factory) -> Iterator[Site]:
    assert vendor.main() == 0
    app = create_app(database_of(request), tmp_path_factory.mktemp("data"))
    services = app.extensions["demotape"]
    with serving(app) as address:
        yield Site(address, services.db, services.store)
    services.db.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """A page in which no script error and no refused resource goes unnoticed."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.problems = problems
    yield page
    context.close()
    assert problems == []


@pytest.fixture
def demonstration(site, tmp_path, request) -> str:
    """A demonstration for one test alone."""
    name = f"rec-{listing(site.db).total}"
    return import_recording(site.db, site.store, make_recording(tmp_path, recording_id=name)).id


def open_review(page: Page, site: Site, demonstration: str, turn: str = "t1") -> None:
    page.goto(f"{site.url}demonstrations/{demonstration}?turn={turn}")


def saved(page: Page):
    """Wait until the edit made inside is saved."""
    return page.expect_response(EDITS)


def shown_order(page: Page) -> list[str]:
    return page.locator("#turns [data-turn]").evaluate_all("items => items.map((item) => item.dataset.turn)")


def selected(page: Page) -> str:
    return page.locator("#turn").get_attribute("data-turn")
