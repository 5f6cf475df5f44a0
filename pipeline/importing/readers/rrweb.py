"""Session replays of rrweb 1 and 2, also PostHog's and Sentry's: what was pressed, typed, chosen and scrolled.

rrweb has no keys, no submits and no pictures. An action's page is the one at the press that began it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.sources import explained, head
from schemas import InputError
from schemas.addresses import is_empty_page

from .rrweb_events import Event, events_of, first_event, kind_of
from .rrweb_mirror import Mirror

_LOADED, _LOAD, _FULL, _INCREMENTAL, _META = range(5)
_MUTATION, _MOUSE, _SCROLL, _RESIZE, _INPUT = 0, 2, 3, 4, 5
_DOWN, _CLICK, _MENU, _DOUBLE, _TOUCH = 1, 2, 3, 4, 7
_MAX_WALL_MS = 9e13
_FOLDED_S = 1.0  # after a press in which a control's change is its effect
_MARKS = (b'"timestamp"', b'"type"', b'"data"')


def _detect(path: Path) -> bool:
    start = head(path)
    if not kind_of(path) or not (all(mark in start for mark in _MARKS) or b'\\u0000' in start or b'"cv"' in start):
        return False
    try:
        return first_event(path) is not None
    except InputError:
        return False


def _items(path: Path) -> Iterator[Item]:
    first = next(iter(events_of(path)))[1]["timestamp"]
    yield Item(path, f"{path.stem}-{first:.0f}")


def _read(item: Item) -> Session:
    first = next(iter(events_of(item.path)))[1]["timestamp"]
    started = datetime.fromtimestamp(first / 1000, UTC) if 0 < first < _MAX_WALL_MS else None
    session = Session("", (), started_at=started, provenance={})
    session.steps = _steps(item.path, first, session)
    return session


def _steps(path: Path, first: float, session: Session) -> Iterator[Utterance | Action]:
    tabs: dict[str, _Tab] = {}
    shown: _Tab | None = None
    for window, event in events_of(path):
        tab = tabs.get(window)
        if tab is None:
            tab = tabs[window] = _Tab(len(tabs) + 1, str(path), first, session)
            if len(tabs) > 1:
                yield from shown.end() if shown else ()
                yield Action("tabcreate", {"tab": tab.number}, time=(event["timestamp"] - first) / 1000)
        with explained(f"{path}: the event at {event['timestamp']}", "an event of rrweb"):
            for action in tab.take(event):
                if shown not in (None, tab):
                    yield from shown.end() if shown else ()
                    yield Action("tabswitch", {"origin": shown.number if shown else None, "target": tab.number},
                                 time=action.time)
                shown = tab
                yield action
    for tab in tabs.values():
        yield from tab.end()
        if tab.mirror.lost:
            session.left_out["changes of nodes that are not in the page"] += tab.mirror.lost


@dataclass
class _Pending:
    """An action that later events may still change."""

    intent: str
    target: int
    time: float
    arguments: dict[str, Any]
    state: Observation | None
    extra: dict[str, Any] = field(default_factory=dict)


class _Tab:
    """One window: its page, and the actions that wait for what follows."""

    def __init__(self, number: int, where: str, first: float, session: Session):
        self.number, self._first, self._session = number, first, session
        self.mirror = Mirror(where)
        self._url, self._size = "", (0, 0)
        self._waiting: list[_Pending] = []
        self._press: tuple[int, float, Observation | None] | None = None
        self._is_loading = True
        self._scroll = (0.0, 0.0)

    def take(self, event: Event) -> Iterator[Action]:
        """Take an event; yields the actions that are complete."""
        kind, data, time = event["type"], event["data"], (event["timestamp"] - self._first) / 1000
        if kind in (_LOADED, _LOAD):
            self._is_loading = True
        elif kind == _META:
            yield from self._take_address(data, time)
        elif kind == _FULL:
            self.mirror.load(data)
            offset = data.get("initialOffset") or {}
            self._scroll = float(offset.get("left") or 0), float(offset.get("top") or 0)
        elif kind == _INCREMENTAL:
            yield from self._take_change(data, time)

    def end(self) -> Iterator[Action]:
        """The actions that waited."""
        yield from self._flush()

    def _take_address(self, data: dict[str, Any], time: float) -> Iterator[Action]:
        href = str(data.get("href") or "")
        self._size = int(data.get("width") or 0), int(data.get("height") or 0)
        if href != self._url or self._is_loading:
            yield from self._flush()
            if not is_empty_page(href):
                yield Action("load", {"url": href, "transition": "link" if self._url else "typed"},
                             state=self._state() if self._url else None, time=time)
        self._url, self._is_loading = href, False

    def _take_change(self, data: dict[str, Any], time: float) -> Iterator[Action]:
        source = data["source"]
        if source == _MUTATION:
            self.mirror.mutate(data)
        elif source == _RESIZE:
            self._size = int(data.get("width") or 0), int(data.get("height") or 0)
        elif source == _MOUSE:
            yield from self._take_pointer(data, time)
        elif source == _SCROLL:
            yield from self._take_scroll(data, time)
        elif source == _INPUT:
            yield from self._take_input(data, time)

    def _take_pointer(self, data: dict[str, Any], time: float) -> Iterator[Action]:
        kind, target = data["type"], int(data["id"])
        if kind in (_DOWN, _TOUCH):
            self._press = target, time, self._state()
        elif kind in (_CLICK, _MENU):
            press = self._press if self._press and self._press[0] == target else None
            state = press[2] if press else self._state()
            point = {name: float(data[name]) for name in ("x", "y") if isinstance(data.get(name), int | float)}
            yield from self._flush(time)
            self._waiting.append(_Pending("click", target, time, point | {"button": 2 if kind == _MENU else 0}, state))
        elif kind == _DOUBLE:
            clicks = [one for one in self._waiting if one.intent == "click" and one.target == target]
            state, arguments = (clicks[0].state, clicks[0].arguments) if clicks else (self._state(), {})
            started = clicks[0].time if clicks else time
            self._waiting = [one for one in self._waiting if one not in clicks[-2:]]
            self._waiting.append(_Pending("dblclick", target, started, arguments, state))

    def _take_scroll(self, data: dict[str, Any], time: float) -> Iterator[Action]:
        target, to = int(data["id"]), {"x": float(data.get("x") or 0), "y": float(data.get("y") or 0)}
        last = self._waiting[-1] if self._waiting else None
        if last and last.intent == "scroll" and last.target == target:
            last.arguments = to
        else:
            state = self._state()
            yield from self._flush()
            self._waiting.append(_Pending("scroll", target, time, to, state))
        node = self.mirror.nodes.get(target)
        if node is not None and node.kind == 0:
            self._scroll = to["x"], to["y"]

    def _take_input(self, data: dict[str, Any], time: float) -> Iterator[Action]:
        target = int(data["id"])
        text = None if data.get("text") is None else str(data["text"])
        checked = data.get("isChecked")
        node = self.mirror.nodes.get(target)
        kind = str(node.attributes.get("type") or "").lower() if node else ""
        is_box = kind in ("checkbox", "radio")
        if data.get("userTriggered") is False or kind == "hidden" or (kind == "radio" and not checked):
            self.mirror.set_value(target, text, checked)
            return
        if is_box or (node and node.tag == "select"):
            yield from self._change(target, time, {"checked": bool(checked)} if is_box else {"value": text or ""})
        else:
            yield from self._type(target, time, text or "")
        self.mirror.set_value(target, text, checked)

    def _change(self, target: int, time: float, arguments: dict[str, Any]) -> Iterator[Action]:
        """A change of a box or list: the presses just before it are part of it."""
        presses = [one for one in self._waiting if one.intent == "click" and time - one.time < _FOLDED_S
                   and self._leads_to(one.target, target)]
        state = presses[0].state if presses else self._state()
        self._waiting = [one for one in self._waiting if one not in presses]
        yield from self._flush()
        self._waiting.append(_Pending("change", target, presses[0].time if presses else time, arguments, state))

    def _leads_to(self, pressed: int, control: int) -> bool:
        """Whether a press is on a control, in it, or on its label."""
        node, wanted = self.mirror.nodes.get(pressed), self.mirror.nodes.get(control)
        name = str(wanted.attributes.get("id") or "") if wanted else ""
        while node is not None:
            if node.id == control or (node.tag == "label" and (
                    str(node.attributes.get("for") or "") == name != "" or self._is_in(wanted, node.id))):
                return True
            node = node.parent
        return False

    def _is_in(self, node: Any, number: int) -> bool:
        while node is not None:
            if node.id == number:
                return True
            node = node.parent
        return False

    def _type(self, target: int, time: float, text: str) -> Iterator[Action]:
        """Typing: one action a field, with what it holds at the end."""
        last = self._waiting[-1] if self._waiting else None
        if last and last.intent == "textInput" and last.target == target:
            last.arguments = {"text": text}
            return
        if text == (self.mirror.value(target) or ""):  # a field that was left without a change
            return
        state = self._state()
        yield from self._flush()
        self._waiting.append(_Pending("textInput", target, time, {"text": text}, state))

    def _state(self) -> Observation | None:
        page = self.mirror.draw()
        if page is None:
            return None
        return Observation(self._url, tab=self.number, viewport=self._size, scroll=self._scroll,
                           page=page.encode("utf-8", "replace"))

    def _flush(self, now: float | None = None) -> Iterator[Action]:
        """The actions that wait; `now`: those from the first recent press on stay, as what follows may be its
        effect."""
        while self._waiting and not (now is not None and self._waiting[0].intent == "click"
                                     and now - self._waiting[0].time < _FOLDED_S):
            yield self._action(self._waiting.pop(0))

    def _action(self, pending: _Pending) -> Action:
        node = self.mirror.nodes.get(pending.target)
        is_page = pending.intent == "scroll" and (node is None or node.kind == 0)
        return Action(pending.intent, pending.arguments, None if is_page else str(pending.target), state=pending.state,
                      time=pending.time)


IMPORTER = Importer("session replays of rrweb 1 and 2 (JSON list or lines), also PostHog's and Sentry's", _detect,
                    _read, _items)
