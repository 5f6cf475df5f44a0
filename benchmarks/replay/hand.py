"""How the scripts that use applications act: as a person does, by mouse and keyboard, looking before each action."""

from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page

NAME, PASSWORD, MAIL = "ada", "Engine-1843-x", "ada@example.org"
_LOOK = 350  # ms before each action
_STEPS = 4  # movements of the pointer on its way
_DRAGGED = 12  # movements of a drag
_TRIES = 5


async def click(target: Locator, count: int = 1) -> None:
    """Look, move there and press; `count`: twice for a double click."""
    x, y = await _middle(target)
    mouse = target.page.mouse
    await mouse.move(x, y, steps=_STEPS)
    for number in range(count):
        await mouse.down(click_count=number + 1)
        await mouse.up(click_count=number + 1)


async def type_in(target: Locator, text: str) -> None:
    """Press in a field and type."""
    await click(target)
    await target.page.keyboard.type(text, delay=40)


async def type_anew(target: Locator, text: str) -> None:
    """Press in a field, select what it holds and type over it."""
    await click(target)
    await target.page.keyboard.press("Control+a")
    await target.page.keyboard.type(text, delay=40)


async def choose(target: Locator, label: str) -> None:
    """Open a list and choose by the first letters of an entry."""
    await click(target)
    await target.page.keyboard.type(label, delay=40)
    await target.page.keyboard.press("Enter")


async def drag(target: Locator, x: float, y: float) -> None:
    """Take something and let it go at a point of the page."""
    begin = await _middle(target)
    mouse = target.page.mouse
    await mouse.move(*begin, steps=_STEPS)
    await mouse.down()
    await mouse.move(x, y, steps=_DRAGGED)
    await mouse.up()


async def seen(target: Locator) -> None:
    """Wait until something is there, and look at it."""
    await target.first.wait_for(state="visible")
    await target.page.wait_for_timeout(_LOOK)


async def rest(page: Page) -> None:
    """Wait until the page has loaded, and look at it."""
    await page.wait_for_load_state()
    await page.wait_for_timeout(_LOOK)


async def _middle(target: Locator) -> tuple[float, float]:
    """The middle of what is there, also after the page has put another one in its place."""
    for _ in range(_TRIES):
        await target.wait_for(state="visible")
        with suppress(PlaywrightError):
            await target.scroll_into_view_if_needed()
            await target.page.wait_for_timeout(_LOOK)
            if box := await target.bounding_box():
                return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    raise PlaywrightError(f"{target} does not stay")
