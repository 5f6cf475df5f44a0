"""The constant code before and after the actions in a Playwright script, without captured data."""

HEAD = '''\
"""Redoes the actions of one demonstration in a Chromium. Needs: pip install playwright; playwright install chromium.

    python THIS_FILE [--headed]

VALUES: what was taken out of the data set (passwords, personal data). Set environment variables of these names, or else
their placeholders are used. DEMOTAPE_ORIGIN: another address of the website on which the session began, such as
http://127.0.0.1:8000. DEMOTAPE_FILES: the folder of the files that are uploaded. DEMOTAPE_CHROMIUM: another Chromium.
"""

import os
import sys
import time
from pathlib import Path

from playwright.sync_api import BrowserContext, Error, Locator, Page, sync_playwright

'''

HELPERS = '''

VALUES = {name: os.environ.get(name, placeholder) for name, placeholder in PLACEHOLDERS.items()}
ORIGIN = os.environ.get("DEMOTAPE_ORIGIN", RECORDED_ORIGIN)
FILES = Path(os.environ.get("DEMOTAPE_FILES", "."))
SECONDS = 15  # that an element, or a page that opens, is waited for
PATIENCE = 2  # seconds
TYPED = 500  # characters; what is longer is put in at once


def find(*ways: Locator) -> Locator:
    """The element, by the first way that finds exactly one. While a way finds none, those after it have to wait: what
    they find may stand where the element is yet to come."""
    began = time.monotonic()
    end = began + SECONDS
    while True:
        found = []
        for way in ways:
            try:
                found.append(way.count())
            except Error:  # the page is on its way to the next one
                found.append(0)
            if found[-1] == 1:
                return way
            if found[-1] == 0 and time.monotonic() < began + PATIENCE:
                break
        if time.monotonic() > end:
            raise SystemExit(f"not found, or not alone: {', '.join(map(str, ways))} ({found} elements)")
        ways[0].page.wait_for_timeout(100)


def enter(field: Locator, text: str) -> None:
    """Put a text into a field by keys, as pages may listen for them."""
    field.fill("" if len(text) <= TYPED else text)
    if len(text) <= TYPED:
        field.press_sequentially(text)


def tick(box: Locator, checked: bool) -> None:
    """Tick or clear a checkbox or radio button, also one that the page hides behind a picture."""
    if box.is_visible():
        box.set_checked(checked)
    elif box.is_checked() != checked:
        box.evaluate("box => box.click()")


def answer(page: Page, *answers: tuple[bool, str | None]) -> None:
    """The page's next dialogs are answered so."""
    left = list(answers)

    def on_dialog(dialog) -> None:
        accepted, text = left.pop(0)
        if not left:
            page.remove_listener("dialog", on_dialog)
        if not accepted:
            dialog.dismiss()
        elif text is None:
            dialog.accept()
        else:
            dialog.accept(text)

    page.on("dialog", on_dialog)


def opened(context: BrowserContext, pages: dict[int, Page]) -> Page:
    """The page that the last action opened."""
    end = time.monotonic() + SECONDS
    while not (new := [page for page in context.pages if page not in pages.values()]):
        if time.monotonic() > end:
            raise SystemExit("no page was opened")
        next(page for page in pages.values() if not page.is_closed()).wait_for_timeout(100)
    new[0].wait_for_load_state()
    return new[0]


def close(page: Page) -> None:
    """Close a page, unless it has closed itself."""
    if not page.is_closed():
        page.close()


def say(speaker: str, utterance: str) -> None:
    """What was said in the session."""
    print(f"{speaker}: {utterance}")


def run(context: BrowserContext, page: Page) -> None:
    """All actions, in a page of the context."""
'''

TAIL = '''

def main() -> None:
    """In a browser of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(headless="--headed" not in sys.argv,
                                             executable_path=os.environ.get("DEMOTAPE_CHROMIUM"))
        context = browser.new_context(viewport=VIEWPORT)
        page = context.new_page()
        run(context, page)
        print("done:", *(page.url for page in context.pages))
        browser.close()


if __name__ == "__main__":
    main()
'''
