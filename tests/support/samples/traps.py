"""Notation of the table of traps: rows, turns in one line, and presses of the mouse."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import Error, Frame, Page

from tests.support.waiting import wait_until_async

UserActions = Callable[[Page], Awaitable]


@dataclass(frozen=True)
class Trap:
    number: int
    does: str
    page: str
    user_actions: UserActions
    turns: list[str]
    extension: list[str]
    why: str


TRAPS: list[Trap] = []


def trap(number: int, does: str, page: str, turns: list[str], *, extension: list[str] | None = None, why: str = ""):
    """Register a row of the table; the decorated function is what the person does.

    `extension`: the turns when the extension records, where Chrome does not tell it enough; `why`: what it is not told.
    """
    def register(user_actions: UserActions) -> UserActions:
        TRAPS.append(Trap(number, does, page, user_actions, turns, turns if extension is None else extension, why))
        return user_actions
    return register


def line(turn: dict) -> str:
    """A turn in one line: intent, target, arguments that matter."""
    arguments, element = turn["arguments"], turn["element"]
    target = f" {element['tag']}" + (f"#{element['attributes']['id']}" if "id" in element["attributes"] else "") \
        if element else ""
    shown = {name: value for name, value in arguments.items() if name not in ("x", "y", "button", "modifiers", "label")
             and value is not False or name in ("checked", "accepted")}
    if turn["intent"] == "scroll":
        shown = {name: arguments[name] for name in ("x", "y", "delta") if name in arguments}
    if turn["intent"] == "load":
        shown = {"url": arguments["url"].rpartition("/")[2] or "/"}
    return " ".join([turn["intent"] + target, *(f"{name}={value!r}" for name, value in shown.items())])


class InFrame:
    """A frame where a row looks up its elements, in the page whose mouse and keyboard it uses."""

    def __init__(self, page: Page, frame: Frame):
        self.page = page
        self.locator, self.evaluate, self.url = frame.locator, frame.evaluate, frame.url
        self.wait_for_url, self.wait_for_function = frame.wait_for_url, frame.wait_for_function
        self.frames = [frame, *frame.child_frames]

    def __getattr__(self, name: str):
        return getattr(self.page, name)


async def middle_of(page: Page | InFrame, selector: str) -> tuple[float, float]:
    """The middle of an element, as seen from the top document."""
    box = await page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def click(page: Page, selector: str, **options) -> None:
    await page.mouse.click(*await middle_of(page, selector), **options)


@asynccontextmanager
async def capture_worlds(page: Page | InFrame) -> AsyncIterator[Callable[[str], Awaitable[list]]]:
    """Gives a function that evaluates in every world of a page or frame, among them the capture script's."""
    outer, frame = (page.page, page.frames[0]) if isinstance(page, InFrame) else (page, page)
    try:
        session = await outer.context.new_cdp_session(frame)
    except Error:  # a frame that its page's process shows
        session = await outer.context.new_cdp_session(outer)
    worlds: list[int] = []
    session.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]["id"]))
    await session.send("Runtime.enable")

    async def evaluate(expression: str) -> list:
        replies = [await session.send("Runtime.evaluate", {"contextId": world, "expression": expression})
                   for world in worlds]
        return [reply["result"].get("value") for reply in replies]
    yield evaluate
    await session.detach()


async def closed_root_found(page: Page | InFrame, selector: str) -> None:
    """Wait until the capture script knows an element's closed shadow root."""
    known = f"demotape.shared.closedRoots.has(document.querySelector({json.dumps(selector)}))"
    async with capture_worlds(page) as evaluate:
        async def is_known() -> bool:
            return True in await evaluate(known)
        await wait_until_async(is_known, what=f"the closed root of {selector}")


async def flush_capture(page: Page | InFrame) -> None:
    """Have the capture script send what it would send within a tenth of a second, as a recording's end does."""
    async with capture_worlds(page) as evaluate:
        await evaluate("globalThis.demotape?.events.flush()")
