"""Playwright's locators as a driver."""

from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Locator, Page

from .script import Action


async def drive(page: Page, site: str, script: Sequence[Action], files: Path) -> list[Action]:
    """Open the application and perform the script; returns all of it."""
    await page.goto(site)
    page.on("dialog", lambda dialog: dialog.accept())
    for action in script:
        await _perform(page, action, files)
    return list(script)


async def _perform(page: Page, action: Action, files: Path) -> None:
    locator: Locator = page.locator(f"#{action.id}")
    match action.kind:
        case "fill" | "date" | "range":
            await locator.fill(action.value)
        case "frame_fill":
            await page.frame_locator("iframe").locator(f"#{action.id}").fill(action.value)
        case "frame_click":
            await page.frame_locator("iframe").locator(f"#{action.id}").click()
        case "select":
            await locator.select_option(label=action.value)
        case "check":
            await locator.check()
        case "upload":
            await locator.set_input_files(files / action.value)
        case "drag":
            await locator.drag_to(page.locator(f"#{action.value}"))
        case "press":
            await locator.press(action.value)
        case "back":
            await page.go_back()
        case _:
            await locator.click()
