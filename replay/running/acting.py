"""Perform a turn in a page by trusted input, for demonstrations and action strings."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from recorder.devtools.sessions import ProtocolError
from schemas import REDACTED
from schemas.types.recordings import Element

from .files import choose_files, drop_files, is_file_input, make_files
from .finding import ElementMatch, ElementNotFound, World, box, call_on, find, related
from .keys import changed, type_text
from .points import inside, matches_recorded_box, outside

_BUTTONS = ("left", "middle", "right")
_STEADY_POLL_S, _MAX_STEADY_POLLS = 0.03, 20  # seconds between two looks whether an element moves; how many
_FIND_POLL_S = 0.04  # seconds between two looks for an element
_STEPS = 10  # movements of a drag
_VISIBLE_HEIGHT_PX = 400  # CSS pixels of a part's height that are likely in sight
_NOTCH_PX = 120  # CSS pixels by which a mouse's wheel turns at least
_PRESSED = 9  # square pixels that can be pressed
_FAR = 300  # options further down a list, which are not gone through
_GOING = 10_000  # ms that a page may take to begin
_STUCK, _A_LETTER = 30.0, 0.05  # seconds after which an action is taken to have hung its page, more where much is typed
_SECRET = "demotape-secret-0"  # typed where a secret was
_FOCUSED = "(e) => e.getRootNode().activeElement === e"
_VALUE = "(e) => e.value ?? e.textContent"
_KIND = """(e) => e.localName === "select" ? "select" : e.localName !== "input" ||
  ["text", "search", "email", "url", "tel", "password", "number"].includes(e.type) ? "text" : "other" """
_OPTIONS = """(e, value, label) => {
  const options = [...e.options].filter((o) => !o.disabled && !o.closest("optgroup")?.disabled);
  const to = options.findIndex((o) => (value === null || o.value === value) && (!label || o.label === label));
  return { from: options.indexOf(e.options[e.selectedIndex]), to, several: e.multiple };
}"""
_CHOOSE = """(e, value, label, values) => {
  const isChosen = (o) => values ? values.includes(o.value) :
    (value === null || o.value === value) && (!label || o.label === label);
  for (const o of e.options) o.selected = isChosen(o);
  for (const type of ["input", "change"]) e.dispatchEvent(new Event(type, { bubbles: true }));
}"""
_SET = """(e, value) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(e, value);
  for (const type of ["input", "change"]) e.dispatchEvent(new Event(type, { bubbles: true }));
}"""
_SELECT = """(e, first, last) => {
  if (!("selectionStart" in e) || e.selectionStart === null) return false;
  if (e.selectionStart !== first || e.selectionEnd !== last) e.setSelectionRange(first, last);
  return true;
}"""
_OFFSETS = "(e) => { const s = e === document.documentElement ? document.scrollingElement : e; " \
           "return [s.scrollLeft, s.scrollTop]; }"
_PAGE_OFFSETS = "() => [document.scrollingElement.scrollLeft, document.scrollingElement.scrollTop]"
_SCROLL = "(e, x, y) => { const s = e === document.documentElement ? document.scrollingElement : e; " \
          "s.scrollTo({ left: x, top: y, behavior: 'instant' }); }"
_READY_TO_SUBMIT = """(e) => {
  const at = e.getRootNode().activeElement;
  if (at && e.contains(at) && at.matches("input, select")) return;
  e.querySelector("input:not([type=hidden], [type=submit], [type=button], [type=checkbox], [type=radio])")?.focus();
}"""


class ActionFailed(Exception):
    """An action could not be done; the message says why."""


class Actor:
    """Acts in one page. `worlds`: where the capture script runs in it now; `uploads`: a folder for files that are
    uploaded, which must outlast the page; `patience`: seconds that an element may take to appear; `ahead`: type without
    waiting for each letter, as none opens a dialog; `finder`: how an element is found in those worlds."""

    def __init__(self, page: Page, worlds: Callable[[], Sequence[World]], uploads: Path, patience: float = 5.0, *,
                 ahead: bool = False,
                 finder: Callable[[Sequence[World], Element], Awaitable[ElementMatch]] = find):
        self._page = page
        self._worlds = worlds
        self._uploads = uploads
        self._patience = patience
        self._ahead = ahead
        self._finder = finder
        self._does: dict[str, Callable[[Mapping[str, Any], ElementMatch | None, Element | None], Awaitable[None]]] = {
            "click": self._click, "dblclick": self._click_twice, "hover": self._hover, "textInput": self._type,
            "change": self._change, "submit": self._submit, "scroll": self._scroll, "copy": self._copy,
            "paste": self._paste, "press": self._press, "drag": self._drag, "upload": self._upload,
            "load": self._load, "back": partial(self._navigate, "go_back"),
            "forward": partial(self._navigate, "go_forward"), "reload": partial(self._navigate, "reload"),
        }

    async def act(self, intent: str, arguments: Mapping[str, Any], element: Element | None,
                  ready: Callable[[], Awaitable[object]] | None = None) -> ElementMatch | None:
        """Do one action; returns the match of its element, if it has one. `ready`: what must be done before, while the
        element is searched. Raises ActionFailed, also where the page hangs for good, and ElementNotFound where there is
        no such element, or it is ambiguous."""
        if intent not in self._does:
            raise ActionFailed(f"{intent} cannot be performed in a page")
        typed = sum(len(value) for value in arguments.values() if isinstance(value, str))
        try:
            async with asyncio.timeout(_STUCK + typed * _A_LETTER):
                return await self._act(intent, arguments, element, ready)
        except TimeoutError:
            raise ActionFailed("the page does not answer any more") from None

    async def _act(self, intent: str, arguments: Mapping[str, Any], element: Element | None,
                   ready: Callable[[], Awaitable[object]] | None) -> ElementMatch | None:
        match = await self._find(element) if element and element["tag"] != "html" else None
        if ready:
            await ready()
        try:
            await self._does[intent](arguments, match, element)
        except (PlaywrightError, ProtocolError) as error:
            raise ActionFailed(f"{intent}: {_first_line(error)}") from None
        return match

    async def _find(self, element: Element) -> ElementMatch:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while True:
            try:
                return await self._finder(self._worlds(), element)
            except (ElementNotFound, ProtocolError) as error:
                if loop.time() > until:
                    raise ElementNotFound(str(error)) from None
            await asyncio.sleep(_FIND_POLL_S)

    async def _point(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None
                     ) -> tuple[float, float]:
        """Where to press: as far into the element as it was pressed, once it stands still."""
        x, y = arguments.get("x"), arguments.get("y")
        if match is None:
            if x is None or y is None:
                raise ActionFailed("neither an element nor a point")
            return x, y
        box_rect = await self._steady(match, element)
        if element and x is not None and y is not None and matches_recorded_box(element, box_rect):
            return x, y  # at an edge, what lies beside or above it counts
        if not element or not element["bbox"] or x is None or y is None:
            return inside(None, None, box_rect)
        if reason := element.get("point_outside"):
            return outside(reason, (x, y), element["bbox"], box_rect)
        return inside((x, y), element["bbox"], box_rect)

    async def _steady(self, match: ElementMatch, element: Element | None) -> tuple[float, float, float, float]:
        """The box of an element once it is shown and stands still. A page that is not there yet shows it later, or
        another one in its place. Where it stands as it was recorded, a person could press it: it is left there, also
        where a part of it is out of sight."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        if (element and element["bbox"] and (box_unscrolled := await _shown_box(match, scrolled=False))
                and matches_recorded_box(element, box_unscrolled)):
            return box_unscrolled
        box_rect = await _shown_box(match)
        for _ in range(_MAX_STEADY_POLLS):
            while box_rect is None:
                if loop.time() > until:
                    raise ActionFailed("the element is not shown")
                await asyncio.sleep(_FIND_POLL_S)
                match = await self._find(element) if element else match
                box_rect = await _shown_box(match)
            await asyncio.sleep(_STEADY_POLL_S)
            if (now := await _shown_box(match)) == box_rect:
                break
            box_rect = now
        if box_rect is None:
            raise ActionFailed("the element is not shown")
        return box_rect

    async def _press_mouse(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None,
                           count: int) -> None:
        if arguments.get("keyboard") and match:
            await self._focus(match)
            await self._page.keyboard.press("Enter" if element and element["tag"] in ("a", "button") else "Space")
            return
        x, y = await self._point(arguments, match, element)
        modifiers = arguments.get("modifiers", ())
        async with AsyncExitStack() as stack:
            for key in modifiers:
                await self._page.keyboard.down(key)
                stack.push_async_callback(self._page.keyboard.up, key)
            number = arguments.get("button", 0)
            button: Any = _BUTTONS[number] if number in range(3) else "left"
            await self._page.mouse.click(x, y, button=button, click_count=count)

    async def _click(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        await self._press_mouse(arguments, match, element, 1)

    async def _click_twice(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element
                           | None) -> None:
        x, y = await self._point(arguments, match, element)
        await self._page.mouse.dblclick(x, y)

    async def _hover(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        x, y = await self._point(arguments, match, element)
        await self._page.mouse.move(x, y, steps=2)

    async def _focus(self, match: ElementMatch) -> None:
        if not await call_on(match, _FOCUSED):
            await match.session.send("DOM.focus", {"objectId": match.object_id})

    async def _type(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        """Type what makes a field's text the wanted one: what stays of it is left alone, as the person did. A text that
        the field has already was typed over it, so that the page hears of it.
        """
        wanted = arguments["text"]
        if match and element and not element["uid"] and (kind := await call_on(match, _KIND)) != "text":
            # a recorded script says only which value the control has afterwards
            await (self._choose(match, wanted, None) if kind == "select" else call_on(match, _SET, wanted))
            return
        secret = REDACTED in wanted
        wanted = wanted.replace(REDACTED, _SECRET)
        keyboard = self._page.keyboard
        if match:
            await self._focus(match)
            before = await call_on(match, _VALUE) or ""
            first, last = (0, 0) if secret or wanted == before else changed(before, wanted)
            if before and await call_on(match, _SELECT, first, len(before) - last):
                wanted = wanted[first:len(wanted) - last]
                if not wanted:
                    await keyboard.press("Backspace")
            elif before:  # the field does not let a part be selected
                await keyboard.press("Control+a")
                if not wanted:
                    await keyboard.press("Delete")
        await type_text(keyboard, wanted, ahead=self._ahead)

    async def _change(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        if not match or not element:
            raise ActionFailed("change: no element")
        if "checked" in arguments:
            await self._tick(match)
        elif "select" in (element["tag"], await call_on(match, _KIND)):
            if (values := arguments.get("chosen_values")) is not None:
                await call_on(match, _CHOOSE, None, None, values)
            else:
                value, label = arguments.get("value"), arguments.get("label")
                # a source without pages says only one of them
                await self._choose(match, None if value == label else value, label)
        else:
            await self._focus(match)
            await call_on(match, _SET, arguments.get("value", ""))

    async def _tick(self, match: ElementMatch) -> None:
        """Press a box or button that is ticked, or its label where it is not shown itself."""
        size = self._page.viewport_size or await self._page.evaluate("({ width: innerWidth, height: innerHeight })")
        for target in (match, await related(match, "(e) => e.labels?.[0] ?? null")):
            box_rect = await box(target) if target else None
            if target and box_rect and box_rect[2] * box_rect[3] >= _PRESSED:
                x, y = await self._point({}, target, None)
                if 0 <= x < size["width"] and 0 <= y < size["height"]:
                    await self._page.mouse.click(x, y)
                    return
        raise ActionFailed("neither the element nor its label is shown")

    async def _choose(self, match: ElementMatch, value: str | None, label: str | None) -> None:
        """Choose from a select by its list and keys, so that the page is told once; by script where several may be
        chosen, or that did not do it."""
        options = await call_on(match, _OPTIONS, value, label)
        if options["to"] < 0:
            raise ActionFailed(f"unknown option {label or value!r}"[:200])
        await self._focus(match)
        keyboard, distance = self._page.keyboard, options["to"] - options["from"]
        key = "ArrowDown" if distance > 0 else "ArrowUp"
        if options["several"] or options["from"] < 0 or abs(distance) > _FAR:
            await call_on(match, _CHOOSE, value, label)
        elif abs(distance) == 1:
            await keyboard.press(key)
        elif distance:
            await keyboard.press("Alt+ArrowDown")
            for _ in range(abs(distance)):
                await keyboard.press(key)
            await keyboard.press("Enter")
            with suppress(ProtocolError):  # the page has gone on
                if (await call_on(match, _OPTIONS, value, label))["from"] == options["from"]:
                    await call_on(match, _CHOOSE, value, label)

    async def _submit(self, _arguments: Mapping[str, Any], match: ElementMatch | None, _element: Element
                      | None) -> None:
        if match:
            await call_on(match, _READY_TO_SUBMIT)
        await self._page.keyboard.press("Enter")

    async def _press(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        if match and element and element["tag"] not in ("body", "html"):
            with suppress(ProtocolError):  # it takes no focus
                await self._focus(match)
        key = arguments["key"]
        await self._page.keyboard.press(f"{key.removesuffix(' ')}Space" if key.endswith(" ") else key)

    async def _scroll(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        """Turn the wheel over what is scrolled; what that leaves, as over a part that scrolls too, is set by script."""
        if delta := arguments.get("delta"):
            return await self._turn_wheel(arguments, match, element, delta)
        x, y = arguments["x"], arguments["y"]
        if match is None:
            width, height = await self._page.evaluate("() => [innerWidth, innerHeight]")
            box_rect: tuple[float, float, float, float] | None = (0, 0, width, height)
            offsets = partial(self._page.evaluate, _PAGE_OFFSETS)
        else:
            box_rect, offsets = await box(match), partial(call_on, match, _OFFSETS)
        if box_rect:
            left, top = await offsets()
            await self._page.mouse.move(box_rect[0] + box_rect[2] / 2, box_rect[1]
                                        + min(box_rect[3], _VISIBLE_HEIGHT_PX) / 2)
            await self._page.mouse.wheel(x - left, y - top)
            await self._wait_for_offsets(offsets, x, y)
        if match is None:
            await self._page.evaluate("([x, y]) => scrollTo({ left: x, top: y, behavior: 'instant' })", [x, y])
        else:
            await call_on(match, _SCROLL, x, y)

    async def _turn_wheel(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None,
                          delta: Mapping[str, float]) -> None:
        """Turn the wheel over what handles it itself, as a map does, a notch at a time."""
        await self._page.mouse.move(*await self._point(arguments.get("point", {}), match, element))
        notches = max(1, round(max(abs(delta["x"]), abs(delta["y"])) / _NOTCH_PX))
        for _ in range(notches):
            await self._page.mouse.wheel(delta["x"] / notches, delta["y"] / notches)
            await asyncio.sleep(_STEADY_POLL_S)

    async def _wait_for_offsets(self, offsets: Callable[[], Awaitable[list[float]]], x: float, y: float) -> None:
        """Wait until the scroll offsets are within a CSS pixel of `x` and `y`, but no longer than all polls take."""
        for _ in range(_MAX_STEADY_POLLS):
            left, top = await offsets()
            if abs(left - x) <= 1 and abs(top - y) <= 1:
                return
            await asyncio.sleep(_STEADY_POLL_S)

    async def _copy(self, _arguments: Mapping[str, Any], _match: ElementMatch | None, _element: Element | None) -> None:
        await self._page.keyboard.press("Control+c")

    async def _paste(self, arguments: Mapping[str, Any], match: ElementMatch | None, _element: Element | None) -> None:
        if match:
            with suppress(ProtocolError):
                await self._focus(match)
        await self._put_on_clipboard(arguments["text"])
        await self._page.keyboard.press("Control+v")

    async def _put_on_clipboard(self, text: str) -> None:
        """In a page of its own, which the recorder of this one does not see."""
        browser = self._page.context.browser
        if browser is None:
            return
        context = await browser.new_context()
        try:
            page = await context.new_page()
            await page.set_content("<textarea></textarea>")
            await page.fill("textarea", text)
            await page.focus("textarea")
            await page.keyboard.press("Control+a")
            await page.keyboard.press("Control+c")
        finally:
            await context.close()

    async def _drag(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        begin, end = arguments["from"], arguments["to"]
        x, y = await self._point(begin, match, element)
        mouse = self._page.mouse
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move(x + end["x"] - begin["x"], y + end["y"] - begin["y"], steps=_STEPS)
        await mouse.up()

    async def _upload(self, arguments: Mapping[str, Any], match: ElementMatch | None, element: Element | None) -> None:
        if not match:
            raise ActionFailed("upload: no element")
        paths = make_files(arguments["files"], self._uploads)
        if await is_file_input(match):
            await choose_files(match, paths)
        else:
            await drop_files(self._page, await self._point({}, match, element), paths)

    async def _load(self, arguments: Mapping[str, Any], _match: ElementMatch | None, _element: Element | None) -> None:
        url = arguments["url"]
        if not url.startswith(("http://", "https://")) and url != "about:blank":
            raise ActionFailed("only http and https addresses are opened")
        await self._page.goto(url, wait_until="commit", timeout=_GOING)

    async def _navigate(self, method: str, *_: Any) -> None:
        await getattr(self._page, method)(wait_until="commit", timeout=_GOING)


async def _shown_box(match: ElementMatch, *, scrolled: bool = True) -> tuple[float, float, float, float] | None:
    """The box of an element; None where it has none, as it is not shown or gone."""
    try:
        return await box(match, scrolled=scrolled)
    except ProtocolError:
        return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0][:200]
