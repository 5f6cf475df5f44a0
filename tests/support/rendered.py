"""Opens a rendered page as a reader of a recording would: in a browser without network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page

from pipeline.pages.restoring import PAGE_READY


@asynccontextmanager
async def shown_offline(browser: Browser, document: str, width: int = 800, height: int = 600) -> AsyncIterator[Page]:
    """A page that shows a document as it stood."""
    context = await browser.new_context(offline=True, viewport={"width": width, "height": height})
    page = await context.new_page()
    await page.set_content(document, wait_until="load")
    await page.evaluate(PAGE_READY)
    yield page
    await context.close()
