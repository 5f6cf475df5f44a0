"""A seeded random driver with its own log: acts on any page with trusted input, and notes what it did.

The log is the truth that a recorder is held against. What was hit is noted by a listener of the benchmark's own in the
page's main world, independent of the capture script.
"""

import random
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import ConsoleMessage, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

_OPENING = 5000  # ms that a tab may take to open

# Notes the XPath of what each press, key or wheel hit, and that a field took something, before any of the page's own
# listeners.
WITNESS = """(() => {
  const step = e => { const same = [...(e.parentNode?.children ?? [e])].filter(o => o.nodeName === e.nodeName);
    const name = e.namespaceURI.endsWith('xhtml') ? e.localName : `*[name()="${e.nodeName}"]`;
    return same.length > 1 ? `${name}[${same.indexOf(e) + 1}]` : name; };
  window.handPath = e => { const steps = []; for (let at = e; at; at = at.parentElement) steps.unshift(step(at));
    return '/' + steps.join('/'); };
  const target = e => e.composedPath()[0].closest ? e.composedPath()[0] : document.documentElement;
  addEventListener('pointerdown', e => e.isTrusted && console.debug('driver:' + handPath(target(e))), true);
  window.handTaken = 0;
  addEventListener('input', e => e.isTrusted && handTaken++, true);
})()"""

_CANDIDATES = """() => {
  const kinds = {text: 'input:not([type]), input[type=text], input[type=password], textarea', select: 'select',
    check: 'input[type=checkbox], input[type=radio], label', press: 'button, a, input[type=submit], input[type=button],'
    + 'span, div, td, li, p, h1, h2, img, circle, rect'};
  const found = [];
  for (const [kind, selector] of Object.entries(kinds)) for (const e of document.querySelectorAll(selector)) {
    const b = e.getBoundingClientRect();
    if (b.width < 6 || b.height < 6 || b.right > innerWidth || b.bottom > innerHeight || b.x < 0 || b.y < 0) continue;
    if (e.disabled || e.isContentEditable) continue;
    const x = b.x + b.width / 2, y = b.y + b.height / 2, hit = document.elementFromPoint(x, y);
    if (!hit || !(e === hit || e.contains(hit))) continue;
    if (hit.closest('[disabled], select, input[type=range], input[type=date], input[type=file], input[type=color],'
      + 'input[type=number], video, iframe, object') && kind !== 'select') continue;
    if (kind === 'select' && hit !== e) continue;
    if ((hit.closest('a')?.host ?? location.host) !== location.host) continue;
    found.push({kind, x, y, width: b.width, height: b.height});
  }
  return found;
}"""

# What a press at a point will do by the rules of HTML, asked before it happens.
_FORESEE = """([x, y]) => {
  const hit = document.elementFromPoint(x, y);
  if (!hit) return {kind: 'press'};
  const label = hit.closest('label'), control = hit.matches('input, textarea') ? hit : label?.control;
  if (control && !control.disabled && (control.type === 'checkbox' || control.type === 'radio'))
    return {kind: control.type === 'radio' && control.checked ? 'press' : 'check', path: handPath(control),
            checked: !control.checked};
  return {kind: hit.matches('input, textarea') && !['submit', 'button', 'reset', 'image'].includes(hit.type) ? 'text'
    : 'press'};
}"""

# The middle of a link in sight that leads to another page of the site.
_LINK = """() => { for (const link of document.querySelectorAll('a[href]')) {
  const b = link.getClientRects()[0];
  if (!b || b.top < 0 || b.bottom > innerHeight || link.host !== location.host || link.pathname === location.pathname)
    continue;
  const x = b.x + b.width / 2, y = b.y + b.height / 2;
  if (link.contains(document.elementFromPoint(x, y))) return {x, y};
} }"""

# What a turn of the wheel scrolled, once that has come to rest; null when it scrolled nothing.
_WAIT_FOR_REST = """() => { window.handRest = new Promise(done => {
  addEventListener('scrollend', ({target}) => { const e = target.scrollingElement ?? target;
    done({path: handPath(e), y: e.scrollTop}) }, {once: true, capture: true});
  setTimeout(() => done(null), 1000);
}) }"""


@dataclass
class UserAction:
    """One thing that the driver did, as a recorder should tell it."""

    intent: str
    path: str | None
    detail: object = None
    tab: int = 1


@dataclass
class Driver:
    """Acts on a page at random, with a seed; `actions` is its log."""

    page: Page
    random: random.Random
    tab: int = 1
    actions: list[UserAction] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.text.startswith("driver:"):
            self.hits.append(message.text.removeprefix("driver:"))

    async def act(self) -> bool:
        """Do one thing; False when there is nothing to be done here."""
        candidates = await self.page.evaluate(_CANDIDATES)
        if not candidates:
            return False
        kind = self.random.choice(sorted({candidate["kind"] for candidate in candidates}))
        target = self.random.choice([candidate for candidate in candidates if candidate["kind"] == kind])
        roll = self.random.random()
        if kind == "select":
            await self._choose(target)
        elif kind == "press" and roll < 0.08 and min(target["width"], target["height"]) > 12:
            await self._drag(target)
        elif roll > 0.95:
            await self._key()
        else:
            await self.click(target["x"], target["y"])
        return True

    async def click(self, x: float, y: float) -> None:
        """Press and release at a point; type when it is a text field."""
        seen = await self.page.evaluate(_FORESEE, [x, y])
        await self.page.mouse.move(x, y)
        await self.page.mouse.down()
        await self.page.mouse.up()
        path = await self._hit()
        if seen["kind"] == "check" and path is not None:
            # The page may refuse the change in its handler; then it was a click.
            now = await self._read(seen["path"], "checked")
            if now == seen["checked"]:
                self.actions.append(UserAction("change", seen["path"], seen["checked"], self.tab))
                return
        self.actions.append(UserAction("click", path, None, self.tab))
        if seen["kind"] == "text" and path == await self.page.evaluate("handPath(document.activeElement)"):
            await self._type(path)

    async def _type(self, path: str) -> None:
        """Press some keys; those that the page takes no text from are presses.

        That the value is the same as before does not say so: a page may empty its field at each key, and be given the
        same letter again.
        """
        secret = await self._read(path, "type") == "password"
        typing = None
        for key in self.random.choices("abc xyz", k=self.random.randint(1, 5)):
            before = await self.page.evaluate("handTaken")
            await self.page.keyboard.press("Space" if key == " " else key)
            after = await self._read(path, "value")
            if after is None:
                return
            if await self.page.evaluate("handTaken") == before:
                self._pressed(key, path)
                typing = None
            elif typing:
                typing.detail = "[REDACTED]" if secret else after
            else:
                typing = UserAction("textInput", path, "[REDACTED]" if secret else after, self.tab)
                self.actions.append(typing)

    async def _choose(self, target: dict) -> None:
        before = await self.page.evaluate(
            "([x, y]) => { const s = document.elementFromPoint(x, y); s.focus(); return [handPath(s), s.value] }",
            [target["x"], target["y"]])
        await self.page.keyboard.press("ArrowDown")
        after = await self._read(before[0], "value")
        if after is not None and after != before[1]:
            last = self.actions[-1] if self.actions else None
            if last and last.intent == "change" and last.path == before[0]:
                last.detail = after  # stepping through a list is one change
            else:
                self.actions.append(UserAction("change", before[0], after, self.tab))
        else:
            self._pressed("ArrowDown", before[0])

    async def _drag(self, target: dict) -> None:
        x, y = target["x"], target["y"]
        await self.page.mouse.move(x, y)
        await self.page.mouse.down()
        path = await self._hit()
        await self.page.mouse.move(x + 25, y + 15, steps=3)
        await self.page.mouse.up()
        self.actions.append(UserAction("drag", path, None, self.tab))

    async def _key(self) -> None:
        path = await self.page.evaluate("handPath(document.activeElement ?? document.body)")
        await self.page.keyboard.press("Escape")
        self._pressed("Escape", path)

    def _pressed(self, key: str, path: str) -> None:
        self.actions.append(UserAction("press", path, key, self.tab))

    async def visit_in_a_tab(self) -> None:
        """Open a link in a tab of its own, press something there, close the tab, and press here again."""
        link = await self.page.evaluate(_LINK)
        if not link:
            return
        try:
            async with self.page.context.expect_page(timeout=_OPENING) as opening:
                await self.page.keyboard.down("Control")
                await self.page.mouse.click(link["x"], link["y"])
                await self.page.keyboard.up("Control")
            other = await opening.value
        except PlaywrightTimeout:  # the link has moved away from under the pointer
            self.actions.append(UserAction("click", await self._hit(), None, self.tab))
            return
        self.actions += [UserAction("click", await self._hit(), None, self.tab), UserAction("tabcreate", None)]
        await other.wait_for_load_state()
        await other.bring_to_front()
        visitor = Driver(other, self.random, self.tab + 1)
        self.actions.append(UserAction("tabswitch", None))
        await visitor.click(3, 3)
        self.actions += visitor.actions
        await other.close()
        self.actions += [UserAction("tabremove", None), UserAction("tabswitch", None)]
        await self.page.bring_to_front()
        await self.click(3, 3)

    async def wheel(self, amount: int) -> None:
        """Turn the wheel over the middle of the page; waits until it has come to rest."""
        size = self.page.viewport_size
        await self.page.mouse.move(size["width"] / 2, size["height"] / 2)
        await self.page.evaluate(_WAIT_FOR_REST)
        await self.page.mouse.wheel(0, amount)
        if rest := await self.page.evaluate("window.handRest"):
            self.actions.append(UserAction("scroll", rest["path"], rest["y"], self.tab))

    async def _read(self, path: str, name: str) -> Any:
        """A property of the element at a path, None when it is gone."""
        return await self.page.evaluate(
            "([path, name]) => document.evaluate(path, document, null, 9).singleNodeValue?.[name]", [path, name])

    async def _hit(self) -> str | None:
        """What the last press hit, once the page has come to rest."""
        while True:
            try:
                await self.page.evaluate("() => new Promise(done => setTimeout(done, 10))")
                break
            except PlaywrightError:  # the press led to another page
                await self.page.wait_for_load_state()
                await self.page.wait_for_timeout(150)
        found, self.hits = self.hits, []
        return found[-1] if found else None
