"""What Playwright's trace and its code generator record of the same script, as scores beside ours.

Both are attached to the browser as our recorder is, in a session of their own: the code generator intercepts input.
"""

import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext

from .scoring import common_pairs
from .script import SCRIPT, Action

_INTENTS = {  # of methods in a trace and actions of the code generator; those of fields are the field's
    "click": "click", "dblclick": "dblclick", "press": "submit", "goBack": "back", "dragAndDrop": "drag"}
_SETTING = {"fill", "select", "selectOption", "check", "uncheck", "setChecked", "setInputFiles", "type"}


class PlaywrightRecorders:
    """Playwright's trace and its code generator on a context, from `begin` to `end`."""

    def __init__(self, context: BrowserContext):
        self._context = context
        self._generated: list[dict[str, Any]] = []  # actions of the code generator

    async def begin(self) -> None:
        """Start both."""
        await self._context.tracing.start()
        # There is no public method without a window; this is the one of the Node.js version's test API.
        await self._context._impl_obj._start_recording({"language": "jsonl"}, self)  # type: ignore[attr-defined]

    def action_added(self, page: Any, data: dict[str, Any], code: str) -> None:
        """Called by Playwright for each action that would become a line of code."""
        self._generated.append(data)

    def action_updated(self, page: Any, data: dict[str, Any], code: str) -> None:
        """Called by Playwright where an action replaces the one before, as while text is typed."""
        self._generated[-1:] = [data]

    async def end(self, folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Stop both; returns the actions of the trace and of the code generator."""
        await self._context._impl_obj._stop_recording()  # type: ignore[attr-defined]
        await self._context.tracing.stop(path=folder / "trace.zip")
        with zipfile.ZipFile(folder / "trace.zip") as archive:
            lines = map(json.loads, archive.read("trace.trace").splitlines())
            traced = [{"name": entry["method"], **entry["params"]} for entry in lines if entry["type"] == "before"]
        return traced, self._generated


def recall(actions: Iterable[dict[str, Any]], done: Sequence[Action]) -> float:
    """The share of a script's actions that are in order among those of a recorder, by intent and element."""
    keys = [(action.intent, "" if action.intent == "back" else action.id) for action in done]
    return len(common_pairs(keys, [_key(action) for action in actions])) / max(len(done), 1)


def _key(action: dict[str, Any]) -> tuple[str, str]:
    name, selector = action["name"], action.get("selector") or action.get("source") or ""
    element_id = next((known.id for known in SCRIPT if _names(selector, known)), "")
    if name in _SETTING:
        return next((known.intent for known in SCRIPT if known.id == element_id), ""), element_id
    return _INTENTS.get(name, name), element_id


def _names(selector: str, action: Action) -> bool:
    """Whether a selector names the element of an action by its id or its accessible name."""
    if not action.id:
        return False
    last = selector.rpartition(" >> ")[2]
    return bool(re.search(rf"""(?:#|id=["']?){action.id}\b|["']{re.escape(action.name)}["']""", last))
