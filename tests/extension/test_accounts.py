"""Recordings and consent belong to the account that recorded them; sent recordings are stored for the chosen time."""

import re

import pytest
from playwright.async_api import Error as PlaywrightError

from curator_web.users import add_user
from tests.recorder.browser.test_recorder import FLIP
from tests.support.samples.sessions import painted

from .test_loss import review

__all__ = ["review"]


async def sign_in(view, port: int, token: str, name: str) -> None:
    await view.locator("#server").fill(f"http://127.0.0.1:{port}")
    await view.locator("#token").fill(token)
    await view.locator("#sign-in button").click()
    await view.locator("#account", has_text=f"Signed in as {name}").wait_for()


def test_recordings_and_consent_belong_to_an_account(chrome, site, review):  # noqa: F811
    site.pages["/"] = FLIP
    view, bob = chrome.panel.page, add_user(review.services.db, "bob", "annotator")

    async def record(task: str) -> str:
        page = await chrome.context.new_page()
        await page.goto(site.origin + "/")
        started = await chrome.panel.ask("start", task=task, window=await chrome.panel.window_of(page))
        await painted(page)
        await page.mouse.click(200, 200)
        await chrome.panel.ask("stop")
        await page.close()
        return started["id"]

    async def listed() -> set[str]:
        return {facts["task"] for facts in await chrome.panel.ask("kept")} & {"of ada", "of nobody"}

    async def work():
        await record("of nobody")
        assert "of no account" in await view.locator("#kept li", has_text="of nobody").inner_text()
        await sign_in(view, review.port, review.token, "ada")
        await view.locator("#provenance label", has_text="Yes").click()
        own = await record("of ada")
        assert await listed() == {"of ada", "of nobody"}
        await view.locator("#sign-out").click()
        await view.locator("#sign-in").wait_for()
        assert await listed() == {"of nobody"}
        await sign_in(view, review.port, bob, "bob")
        await view.locator("#others", has_text=re.compile(r"[1-9]\d* more of other accounts")).wait_for()
        assert await listed() == {"of nobody"}
        assert await view.locator("#publishing-told").inner_text() == "not set"
        for task in ("upload", "pack", "discard"):
            with pytest.raises(PlaywrightError, match="belongs to another account"):
                await chrome.panel.ask(task, id=own)
        await view.locator("#kept li", has_text="of nobody").get_by_role("button", name="Send as bob").click()
        await view.locator("#kept li", has_text="of nobody").locator(".tag", has_text=re.compile("^sent$")).wait_for()
        await chrome.panel.ask("signOut")
        await sign_in(view, review.port, review.token, "ada")
        assert await listed() == {"of ada"}
        assert await view.locator("#publishing-told").inner_text() == "agreed"
        await view.locator("#kept li", has_text="of ada").get_by_role("button", name="Send").click()
        await view.locator("#kept li", has_text="of ada").locator(".tag", has_text=re.compile("^sent$")).wait_for()
        assert re.search(r"\d recordings?, \d+\.\d MB", await view.locator("#total").inner_text())
        button = view.locator("#discard-sent")
        await button.click()
        assert await button.inner_text() == "Discard permanently" and await listed() == {"of ada"}
        await button.click()
        await view.locator("#kept li", has_text="of ada").wait_for(state="detached")
        await chrome.panel.ask("signOut")
        await sign_in(view, review.port, bob, "bob")
        assert await listed() == {"of nobody"}  # what bob has sent was not discarded by ada
        await view.locator("#keep-sent").select_option("not at all")
        await view.locator("#kept li", has_text="of nobody").wait_for(state="detached")

    async def whole():
        try:
            await work()
        finally:
            await chrome.panel.ask("signOut")
            await chrome.panel.ask("keepSent", days=30)
            await view.evaluate("Object.keys(localStorage).filter(key => key.startsWith('provenance'))"
                                ".forEach(key => localStorage.removeItem(key))")

    chrome.runner.run(whole())
