"""Results of BrowserGym's experiments, which AgentLab writes, too: a folder a run, a pickle a step.

Pickles run code when Python reads them; here they are read without it (`pickles.py`).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.importing.action_calls import Act, Call, CallTranslator, parse_calls
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.dom_snapshot import draw_snapshot, scroll_offset
from pipeline.importing.pickles import numbers, read_pickle, unpack_gzip
from pipeline.importing.provenance import agent_provenance
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import Folder, explained, folders_with
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.types.recordings import Box

_STEP = re.compile(r"step_(\d{1,6})\.pkl\.gz")
_FIRST = "step_0.pkl.gz"
_SILENT = ("noop", "focus")
_OWN_ATTRIBUTES = ("browsergym_",)
_SPEAKERS = {"user": "instructor", "assistant": "navigator", "infeasible": "navigator"}
_MAX_WALL_S = 9e10


def _detect(path: Path) -> bool:
    return path.is_dir() and any(True for _ in folders_with(path, _FIRST))


def _items(path: Path) -> Iterator[Item]:
    for inner in folders_with(path, _FIRST):
        yield Item(path, PurePosixPath(inner).name or path.name, (inner,))


def _read(item: Item) -> Session:
    folder = Folder(item.path, item.position[0])
    steps = sorted(int(match[1]) for file in (folder.root / folder.inner).iterdir()
                   if (match := _STEP.fullmatch(file.name)))
    first = _read_step(folder, steps[0])
    started = _wall(_fields(first, "profiling"), "env_start")
    agent = _fields(_read_fields(folder, "exp_args.pkl"), "agent_args")
    session = Session(str(_fields(first, "obs").get("goal") or ""), (),
                      started_at=datetime.fromtimestamp(started, UTC) if started is not None else None,
                      provenance=agent_provenance("agent", str(agent.get("agent_name") or "")))
    session.steps = _steps(folder, steps, started, _model(agent), session)
    return session


def _read_step(folder: Folder, number: int) -> Mapping[str, Any]:
    step = _read_fields(folder, f"step_{number}.pkl.gz")
    if not step:
        raise InputError(f"{folder}: step_{number}.pkl.gz: not a step of an experiment")
    return step


def _read_fields(folder: Folder, name: str) -> Mapping[str, Any]:
    """The fields of the object in a file of the folder; none where there is no such file or object."""
    content, where = folder.read(name, limits.JSON), f"{folder}: {name}"
    if content is None:
        return {}
    value = read_pickle(unpack_gzip(content, limits.BLOB, where) if name.endswith(".gz") else content, where)
    return value if isinstance(value, dict) else {}


def _fields(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    field = value.get(name)
    return field if isinstance(field, dict) else {}


def _model(agent: Mapping[str, Any]) -> str:
    """The model's name, as AgentLab's agents have it in their arguments."""
    models = (_fields(agent, name) for name in ("chat_model_args", "model_args"))
    return next((str(model["model_name"]) for model in models if model.get("model_name")), "")


def _wall(profile: Mapping[str, Any], name: str) -> float | None:
    """A time in seconds since 1970; None where there is none."""
    values = numbers(profile.get(name))
    return float(values[0]) if values and 0 < values[0] < _MAX_WALL_S else None


def _steps(folder: Folder, numbers_of_steps: list[int], started: float | None, model: str, session: Session
           ) -> Iterator[Utterance | Action]:
    """The chat and the actions; whether an action failed, and when it began, the step after it says."""
    calls, spoken = CallTranslator(), 0
    step: Mapping[str, Any] | None = _read_step(folder, numbers_of_steps[0])
    for position, number in enumerate(numbers_of_steps):
        assert step is not None
        is_last = position + 1 == len(numbers_of_steps)
        later = None if is_last else _read_step(folder, numbers_of_steps[position + 1])
        with explained(f"{folder}: step_{number}.pkl.gz", "a step of an experiment"):
            observed = _fields(step, "obs")
            messages = list(observed.get("chat_messages") or ())
            yield from _chat(messages[spoken:], started, is_first=position == 0)
            spoken = max(spoken, len(messages))
            if isinstance(text := step.get("action"), str):
                if later is None:
                    session.left_out["last actions of runs that broke off: nothing says whether they were done"] += 1
                else:
                    yield from _actions(text, step, later, folder, number, calls, started, model, session)
        step = later


def _chat(messages: list[Any], started: float | None, *, is_first: bool) -> Iterator[Utterance]:
    """New messages; later ones of the agent are its actions."""
    for message in messages:
        speaker = _SPEAKERS.get(str(message.get("role"))) if isinstance(message, dict) else None
        if speaker is None or (speaker == "navigator" and not is_first):
            continue
        written = _wall(message, "timestamp")
        time = None if written is None or started is None else max(written - started, 0.0)
        yield Utterance(str(message.get("message") or ""), speaker, time)  # type: ignore[arg-type]


def _actions(text: str, step: Mapping[str, Any], later: Mapping[str, Any], folder: Folder, number: int,
             calls: CallTranslator, started: float | None, model: str, session: Session
             ) -> Iterator[Utterance | Action]:
    """The calls of a step's action, the first of them with the state and the agent's report."""
    observed, outcome = _fields(step, "obs"), _fields(later, "obs")
    pages = observed.get("open_pages_urls") or ()
    active = numbers(observed.get("active_page_index"))
    calls.observe_tabs(len(pages), int(active[0]) if active else 0)
    where = f"{folder}: step_{number}.pkl.gz"
    if outcome.get("last_action_error"):
        session.left_out["actions that failed"] += 1
        return
    try:
        parsed = parse_calls(text, where)
    except InputError:
        session.left_out["actions that are not calls such as click('12')"] += 1
        return
    boxes = _boxes(observed)
    state: Observation | None = _state(observed, boxes, calls, folder, number, where)
    if _fields(observed, "dom_object") and state is not None:
        calls.observe_scroll(*state.scroll)
    begun = _wall(_fields(later, "profiling"), "action_exec_start") or _wall(_fields(step, "profiling"), "agent_stop")
    time = None if begun is None or started is None else max(begun - started, 0.0)
    report = _report(step, later, model)
    for call in parsed:
        act = _translate(call, calls, boxes)
        if act is None:
            session.left_out[f"{call.name[:60]}: no equal here"] += call.name not in _SILENT
        elif act.said is not None:
            yield Utterance(act.said, "navigator", time)
        else:
            yield Action(act.intent, act.arguments, act.target, state=state, time=time, report=report)
            state, report = None, {}


def _translate(call: Call, calls: CallTranslator, boxes: Mapping[str, Box]) -> Act | None:
    """The action of a call; one that drags an element onto another, from the middle of the one to that of the other."""
    if call.name == "drag_and_drop":
        ends = [boxes.get(str(call.value(position, name))) for position, name in enumerate(("from_bid", "to_bid"))]
        if ends[0] is None or ends[1] is None:
            return None
        source, target = ({"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
                          for box in ends if box is not None)
        return Act("drag", {"from": source, "to": target}, str(call.value(0, "from_bid")))
    return calls.translate(call)


def _boxes(observed: Mapping[str, Any]) -> dict[str, Box]:
    """Boxes by uid, of elements that have one."""
    boxes: dict[str, Box] = {}
    for uid, properties in _fields(observed, "extra_element_properties").items():
        box = numbers(properties.get("bbox")) if isinstance(properties, dict) else []
        if len(box) == 4:
            boxes[str(uid)] = {"x": box[0], "y": box[1], "width": box[2], "height": box[3]}
    return boxes


def _state(observed: Mapping[str, Any], boxes: Mapping[str, Box], calls: CallTranslator, folder: Folder, number: int,
           where: str) -> Observation:
    """The tab before an action. A page that the agent's own preparation has replaced by text is taken from that."""
    snapshot, titles = _fields(observed, "dom_object"), list(observed.get("open_pages_titles") or ())
    screenshot = folder.read(f"screenshot_step_{number}.png")
    active = numbers(observed.get("active_page_index"))
    index = int(active[0]) if active else 0
    page, scroll = None, (0.0, 0.0)
    if snapshot:
        page, scroll = draw_snapshot(snapshot, "bid", _OWN_ATTRIBUTES, where), scroll_offset(snapshot)
    elif isinstance(text := observed.get("dom_txt") or observed.get("pruned_html"), str):
        page = text.encode("utf-8", "replace")
    return Observation(
        str(observed.get("url") or ""), str(titles[index]) if 0 <= index < len(titles) else "", calls.shown,
        scroll=scroll, page=page, uid_attribute=UID_ATTRIBUTE if snapshot else "bid", boxes=boxes,
        screenshot=screenshot)


def _report(step: Mapping[str, Any], later: Mapping[str, Any], model: str) -> dict[str, Any]:
    """What the agent said of the step, and its reward, which the step after it has."""
    thought, stats = _fields(step, "agent_info"), _fields(step, "stats")
    reward = numbers(later.get("reward"))
    return agent_report({
        "reasoning": str(thought.get("think") or ""), "model": model, "input_tokens": _count(stats, "input_tokens"),
        "output_tokens": _count(stats, "output_tokens"), "cost": next(iter(numbers(stats.get("cost"))), None),
        "reward": float(reward[0]) if reward else None})


def _count(stats: Mapping[str, Any], name: str) -> int | None:
    values = numbers(stats.get(name))
    return int(values[0]) if values else None


IMPORTER = Importer("results of BrowserGym's experiments and AgentLab's studies (folders with step_0.pkl.gz)", _detect,
                    _read, _items)
