"""Mind2Web: the authors' task files (JSON) with their raw dump, our exports, and Multimodal-Mind2Web (Parquet)."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Observation, Session
from pipeline.importing.pages import number_elements
from pipeline.importing.sources import explained, head, list_members, parse_json, read_member
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.types.recordings import Box

from .mind2web_dump import DUMP_FILES, TaskDump
from .parquet import columns_of, files_in, grouped_rows, picture_of, rows_of

MAX_TASK_BYTES = 256 << 20  # of the JSON of a task: each of its actions has a page twice
_NODE_ID, _BOX, _MARK = "backend_node_id", "bounding_box_rect", "data_pw_testid_buckeye"
_COLUMNS = frozenset({"action_uid", "raw_html", "operation", "pos_candidates", "annotation_id", "target_action_index"})
_KEYS = (b'"annotation_id"', b'"actions"')
_INTENTS = {"CLICK": "click", "HOVER": "hover", "TYPE": "textInput", "SELECT": "change", "ENTER": "press"}


def _task_files(path: Path) -> list[Path]:
    files = [path] if path.is_file() else sorted({*path.glob("data/*/*.json"), *path.glob("*/*.json"),
                                                  *path.glob("*.json")})
    return [file for file in files if file.name not in DUMP_FILES and _is_task_file(file)]


def _is_task_file(file: Path) -> bool:
    """Whether a file is a list of tasks: the first one's head, which may stand behind its pages, is there."""
    start = head(file).lstrip()
    if not start.startswith(b"[") or not start[1:].lstrip().startswith(b"{"):
        return False
    if any(key in start for key in _KEYS):
        return True
    return b'"action_uid"' in start or b'"raw_html"' in start


def _items(path: Path) -> Iterator[Item]:
    root = path if path.is_dir() else path.parent
    for file in _task_files(path):
        for start, content in list_members(file, limit=MAX_TASK_BYTES):
            where = f"{file}: the task at byte {start}"
            task = parse_json(content, where)
            with explained(where, "a task of Mind2Web"):
                name = task.get("demonstration") or task["annotation_id"]
                task["actions"][:0]
                yield Item(path, str(name), (file.relative_to(root).as_posix(), start))


def _read(item: Item) -> Session:
    root = item.path if item.path.is_dir() else item.path.parent
    name, start = item.position
    where = f"{root / name}: the task at byte {start}"
    task = parse_json(next(list_members(root / name, start, MAX_TASK_BYTES))[1], where)
    with explained(where, "a task of Mind2Web"):
        session = Session(str(task.get("confirmed_task") or ""), ())
        session.steps = _steps(task, session, where, root)
    return session


def _steps(task: dict[str, Any], session: Session, where: str, root: Path) -> Iterator[Action]:
    dump = TaskDump(root, str(task.get("annotation_id") or ""))
    for number, fields in enumerate(task["actions"]):
        with explained(f"{where}: actions.{number}", "an action of Mind2Web"):
            origin = [float(part) for part in (fields.get("viewport") or "").split(",") if part]
            yield action_of(fields, read_member(root, fields.get("screenshot"), limits.BLOB), origin, session, dump)


def action_of(fields: Mapping[str, Any], picture: bytes | None, viewport: list[float], session: Session, dump: TaskDump
              ) -> Action:
    """An action from its fields. `viewport`: the part of the page that the picture shows (left, top, width, height),
    where the data say it. `dump`: has address, title and, where there is no `picture`, one of the whole page."""
    operation = _decoded(fields["operation"])
    positive = [_decoded(candidate) for candidate in fields.get("pos_candidates") or []]
    negative = [_decoded(candidate) for candidate in fields.get("neg_candidates") or []]
    page, attribute = _page(fields)
    left, top, *size = viewport if len(viewport) == 4 else (0.0, 0.0)
    boxes: dict[str, Box] = {
        uid: {"x": box["x"] - left, "y": box["y"] - top, "width": box["width"], "height": box["height"]}
        for candidate in (*positive, *negative) for uid, box in _boxes(candidate)}
    target = _target(fields, positive, page, attribute)
    kind = str(operation.get("original_op") or operation["op"]).upper()
    if kind not in _INTENTS:
        raise ValueError(f"operation {kind}")
    intent, value = _INTENTS[kind], str(operation.get("value") or "")
    arguments: dict[str, Any] = {}
    if intent == "textInput":
        arguments = {"text": value}
    elif intent == "change":
        arguments = {"label": value}
    elif intent == "press":
        is_form = any(str(candidate.get("tag")) == "form" for candidate in positive)
        intent, arguments = ("submit", {}) if is_form else ("press", {"key": "Enter"})
    if target is None:
        session.left_out["target: the data do not say which element it was"] += 1
    action_uid = str(fields.get("action_uid") or "")
    picture = picture or dump.picture(action_uid)
    address, title = dump.address(action_uid)
    state = Observation(address, title, viewport=(round(size[0]), round(size[1])) if size else (0, 0),
                        scroll=(left, top), page=page, uid_attribute=attribute, boxes=boxes, screenshot=picture
                        ) if page or picture else None
    return Action(intent, arguments, target, state=state, id=str(fields.get("turn") or action_uid))


def _page(fields: Mapping[str, Any]) -> tuple[bytes | None, str]:
    """The page and its attribute with the elements' numbers; the cleaned page where there is no other."""
    html = fields.get("raw_html") or fields.get("cleaned_html")
    if not html:
        return None, UID_ATTRIBUTE
    page = html.encode("utf-8", "replace")
    return (page, _NODE_ID) if f" {_NODE_ID}=" in html else (number_elements(page), UID_ATTRIBUTE)


def _target(fields: Mapping[str, Any], positive: list[dict[str, Any]], page: bytes | None, attribute: str
            ) -> str | None:
    """The element acted on: the original one of the positive candidates, or the one that the page marks."""
    ranked = sorted(positive, key=lambda candidate: (not candidate.get("is_original_target"),
                                                     not candidate.get("is_top_level_target")))
    if ranked and (uid := str(ranked[0].get(_NODE_ID) or "")):
        return uid
    mark = str(fields.get("action_uid") or "")
    if not page or not mark:
        return None
    tag = re.search(rb"<[^<>]*\b" + _MARK.encode() + rb'="' + re.escape(mark.encode()) + rb'"[^<>]*>', page)
    number = tag and re.search(rb"\s" + re.escape(attribute.encode()) + rb'="([^"]*)"', tag[0])
    return number[1].decode() if number else None


def _boxes(candidate: Mapping[str, Any]) -> Iterator[tuple[str, Box]]:
    """The box of a candidate, relative to the page, if it has one."""
    attributes = _decoded(candidate.get("attributes") or {})
    parts = [float(part) for part in str(attributes.get(_BOX) or "").split(",") if part.strip()]
    if len(parts) == 4 and parts[2] >= 0 and parts[3] >= 0:
        uid = str(candidate.get(_NODE_ID) or attributes.get(_NODE_ID) or "")
        yield uid, {"x": parts[0], "y": parts[1], "width": parts[2], "height": parts[3]}


def _decoded(value: Any) -> dict[str, Any]:
    """An object, or one that is written as JSON text."""
    decoded = parse_json(value, "a candidate") if isinstance(value, str) else value
    if not isinstance(decoded, dict):
        raise TypeError("not an object")
    return decoded


def _detect_rows(path: Path) -> bool:
    files = files_in(path)
    return bool(files) and columns_of(files[0]) >= _COLUMNS


def _read_rows(item: Item) -> Session:
    where, row = next(rows_of(item))
    session = Session(str(row.get("confirmed_task") or ""), ())

    dump = TaskDump(item.path if item.path.is_dir() else item.path.parent, str(row.get("annotation_id") or ""))

    def steps() -> Iterator[Action]:
        for where, fields in rows_of(item):
            with explained(where, "a row of Multimodal-Mind2Web"):
                yield action_of(fields, picture_of(fields.get("screenshot")), [], session, dump)

    session.steps = steps()
    return session


def _require_tasks(path: Path) -> Iterator[Item]:
    if not _task_files(path):
        raise InputError(f"{path}: contains no task file of Mind2Web (a JSON list of tasks)")
    return _items(path)


IMPORTER = Importer("task files of Mind2Web (.json), also demotape's exports of that format", lambda path: bool(
    _task_files(path)), _read, _require_tasks)
MULTIMODAL = Importer("Multimodal-Mind2Web (.parquet), also demotape's exports of that format", _detect_rows,
                      _read_rows, lambda path: grouped_rows(path, "annotation_id", "target_action_index"))
