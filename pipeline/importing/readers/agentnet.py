"""AgentNet (OpenCUA): JSON Lines, a task a line; each step has a picture and code of pyautogui.

demotape's exports of that format also have id, intent and time of each step's turn, which several calls may make.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.importing.action_calls import MAX_CALL_CHARS, Act, Call, CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.provenance import agent_provenance, parse_time
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import explained, first_object, read_member
from recorder.pictures import size_of
from schemas import InputError, limits
from schemas.key_names import event_keys

from .documents import document_items, read_item

_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_MODIFIERS = ("Control", "Shift", "Alt", "Meta")
_WHEEL_PX = 100  # CSS pixels of a step of the wheel
_CLICKS = {"click": "click", "leftClick": "click", "doubleClick": "dblclick", "rightClick": "click",
           "middleClick": "click", "tripleClick": "dblclick", "triple_click": "dblclick", "moveTo": "hover"}
_SILENT = ("wait", "sleep", "mouseDown", "mouseUp")
_TAB_CALLS = {"tabcreate": "new_tab", "tabremove": "tab_close", "tabswitch": "tab_focus"}


@dataclass
class _Hand:
    """Where the pointer is, from which a drag begins, and the modifiers that are held."""

    point: dict[str, float] | None = None
    modifiers: list[str] = field(default_factory=list)


def _is_task(value: dict[str, Any]) -> bool:
    return "task_id" in value and isinstance(value.get("traj"), list)


def _detect(path: Path) -> bool:
    files = [path] if path.is_file() else sorted(path.glob("*.jsonl"))[:1] if path.is_dir() else []
    return any(_is_task(first_object(file)) for file in files)


def _items(path: Path) -> Iterator[Item]:
    return document_items(path, b'"task_id":', _is_task, ("task_id",))


def _read(item: Item) -> Session:
    where, task, folders = read_item(item)
    with explained(where, "a task of AgentNet"):
        text = str(task.get("instruction") or task.get("natural_language_task") or "")
        own = task.get("demotape") or {}
        session = Session(text, (), started_at=parse_time(own.get("started_at")),
                          provenance=agent_provenance(own.get("actor", "person"), str(own.get("agent") or "")))
        pictures = [folder / name for folder in folders for name in (".", "images", "screenshots")]
        session.steps = _steps(task["traj"], session, where, pictures)
    return session


def _steps(steps: list[dict[str, Any]], session: Session, where: str, folders: list[Path]
           ) -> Iterator[Utterance | Action]:
    hand, tabs = _Hand(), CallTranslator()
    for number, step in enumerate(steps):
        with explained(f"{where}: traj.{number}", "a step of AgentNet"):
            value, own = step.get("value") or {}, step.get("demotape") or {}
            name = step.get("image")
            picture = next((content for folder in folders if folder.is_dir()
                            and (content := read_member(folder, name, limits.BLOB))), None)
            if name and picture is None:
                session.left_out["pictures that are not in the folder"] += 1
            state: Observation | None = Observation(screenshot=picture) if picture else None
            report = agent_report({"reasoning": value.get("thought")})
            size = (size_of(picture) if picture else None) or (1, 1)
            calls = _calls(str(value.get("code") or ""), f"{where}: traj.{number}")
            acts = [act for call in calls if (act := _translate(call, size, hand, session))]
            identity: dict[str, Any] = {"id": str(own["turn"]), "time": float(own["timestamp"])} if own else {}
            is_script = own.get("trusted") is False
            for act in _as_turn(acts, str(own.get("intent") or ""), tabs):
                if act.said is not None:
                    yield Utterance(act.said, "navigator", **identity)
                else:
                    yield Action(act.intent, act.arguments, state=state, is_script=is_script, report=report, **identity)
                    state, report = None, {}
                identity = {}


def _as_turn(acts: list[Act], intent: str, tabs: CallTranslator) -> list[Act]:
    """The turns of a step's actions; one of `intent`, where demotape's export states it and its code has it."""
    typed = next((act.arguments["text"] for act in acts if act.intent == "textInput"), None)
    if intent == "textInput" and typed is not None:
        return [Act("textInput", {"text": typed})]
    if intent == "load" and typed is not None:
        return [Act("load", {"url": typed, "transition": "typed"})]
    if intent in ("back", "forward", "reload", "submit"):
        return [Act(intent)]
    if intent in _TAB_CALLS:
        index = next((int(digit) - 1 for act in acts if (digit := str(act.arguments.get("key"))[-1:]).isdigit()), 0)
        turn = tabs.translate(Call(_TAB_CALLS[intent], (index,) if intent == "tabswitch" else ()))
        return [turn] if turn else []
    # the pointer goes where a drag begins
    return [act for act, after in zip(acts, [*acts[1:], None], strict=True)
            if not (act.intent == "hover" and after and after.intent == "drag")]


def _calls(code: str, where: str) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """The calls in code: their names without the module, values, named values. Other lines are an error."""
    if len(code) > MAX_CALL_CHARS:
        raise InputError(f"{where}: code of more than {MAX_CALL_CHARS} characters")
    try:
        for statement in ast.parse(code.strip()).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                continue
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute | ast.Name):
                raise ValueError("not a call")
            name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
            yield (name, [ast.literal_eval(value) for value in call.args],
                   {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg})
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise InputError(f"{where}: {code[:60]!r} is not code of pyautogui") from None


def _translate(call: tuple[str, list[Any], dict[str, Any]], size: tuple[int, int], hand: _Hand, session: Session
               ) -> Act | None:
    """The action of a call, if it is one."""
    name, values, named = call
    point = _point(values, named, size)
    if name in _CLICKS:
        button = {"rightClick": 2, "middleClick": 1}.get(name, _BUTTONS.get(str(named.get("button", "left")), 0))
        intent = "dblclick" if name == "click" and named.get("clicks") == 2 else _CLICKS[name]
        hand.point = point or hand.point
        return Act(intent, {**(hand.point or {}), "button": button, "modifiers": list(hand.modifiers)})
    if name in ("dragTo", "drag"):
        begin, hand.point = hand.point, point
        if point is None or begin is None:
            session.left_out["drags whose ends are not stated"] += 1
            return None
        return Act("drag", {"from": begin, "to": point})
    if name in ("write", "typewrite"):
        return Act("textInput", {"text": str(named.get("message", values[0] if values else ""))})
    if name in ("press", "hotkey", "keyDown", "keyUp"):
        return _pressed(name, named.get("keys", named.get("key", values)), hand)
    if name in ("scroll", "hscroll"):
        far = float(named["clicks"] if "clicks" in named else values[0]) * _WHEEL_PX
        delta = {"x": far if name == "hscroll" else 0.0, "y": 0.0 if name == "hscroll" else -far}
        return Act("scroll", {"x": max(0.0, delta["x"]), "y": max(0.0, delta["y"]), "delta": delta,
                              **({"point": point} if point else {})})
    if name in ("terminate", "answer"):
        said = str(named.get("answer") or named.get("status") or (values[0] if values else ""))
        return Act("say", said=said)
    if name not in _SILENT:
        session.left_out[f"{name[:60]}: no equal here"] += 1
    return None


def _pressed(name: str, keys: Any, hand: _Hand) -> Act | None:
    """The press of keys; a modifier that is held belongs to the clicks that follow."""
    keys = [one for key in (keys if isinstance(keys, list | tuple) else [keys])
            for one in (key if isinstance(key, list | tuple) else [key])]
    pressed = event_keys(map(str, keys))
    if name in ("keyDown", "keyUp") and pressed in _MODIFIERS:
        hand.modifiers = [key for key in hand.modifiers if key != pressed] + [pressed] * (name == "keyDown")
        return None
    return None if name == "keyUp" else Act("press", {"key": pressed})


def _point(values: list[Any], named: dict[str, Any], size: tuple[int, int]) -> dict[str, float] | None:
    """A point in pixels; shares of the picture, as AgentNet has them, are made such."""
    pair: list[Any] = [named.get("x"), named.get("y")] if "x" in named else values[:2]
    if len(pair) != 2 or not all(isinstance(value, int | float) and not isinstance(value, bool) for value in pair):
        return None
    x, y = float(pair[0]), float(pair[1])
    if 0 <= x <= 1 and 0 <= y <= 1:
        x, y = x * size[0], y * size[1]
    return {"x": x, "y": y}


IMPORTER = Importer("AgentNet (OpenCUA): .jsonl, with the pictures beside it, in images or in screenshots, also "
                    "demotape's exports of that format", _detect, _read, _items)
