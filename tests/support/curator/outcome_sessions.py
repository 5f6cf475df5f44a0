"""Recorded sessions of one task: a successful one, labelled as a person's and as an agent's, and one of an agent that
gives up."""

import json
import shutil
from pathlib import Path

from flask import Flask
from playwright.async_api import Page

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from pipeline import process
from tests.conftest import RecordingBrowser
from tests.support.curator.team_fixtures import add_people
from tests.support.services.site import Site

SHOP = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1>
<form method=post action=/orders><label>Lamp <input name=lamp></label><button>Order</button></form>"""
DONE = """<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p id=told>You ordered a Floor lamp</p>
<a id=again href=/next>Order another</a>"""


async def order(page: Page) -> None:
    """Order a lamp."""
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("You ordered").wait_for()


async def give_up(page: Page) -> None:
    """Order nothing."""
    await page.get_by_label("Lamp").click()


def sessions(recording_browser: RecordingBrowser, folder: Path) -> list[Path]:
    """The folders of the three, processed: `person`, `able`, `idle`."""
    site = Site({"/": SHOP, "/orders": DONE})
    ordered, idle = (recording_browser.record(does, url=site.origin + "/", keep={"replayable": True})
                     for does in (order, give_up))
    site.close()
    found = []
    for name, session, about in (("person", ordered, {"actor": "person"}),
                                 ("able", ordered, {"actor": "agent", "agent": "clicker 1"}),
                                 ("idle", idle, {"actor": "agent", "agent": "idler 1"})):
        root = shutil.copytree(session.recording.layout.root, folder / name)
        manifest = json.loads((root / "recording.json").read_text())
        (root / "recording.json").write_text(json.dumps(manifest | {"id": name, "provenance": about}))
        process(root)
        found.append(root)
    return found


def made_app(recorded: list[Path], folder: Path, url: str | None = None) -> Flask:
    """A review app with people and these sessions."""
    app = create_app(url, folder / "data")
    services = app.extensions["demotape"]
    add_people(app)
    for root in recorded:
        import_recording(services.db, services.store, root)
    return app
