"""The raw dump of Mind2Web: screenshots and DOM snapshots of a task, published beside its task file.

`task/<annotation_id>/processed/` has `screenshot.json` and `dom_content.json`, lists with an object for each action:
`action_uid`, and `before` and `after` with a picture (Base64) and a snapshot of Chrome DevTools.
"""

import base64
import binascii
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.dom_snapshot import document_address, document_title
from pipeline.importing.sources import explained, list_members, parse_json
from schemas import limits

MAX_MEMBER_BYTES = 512 << 20  # of an action: its pictures, or its snapshots, of two moments
_FOLDERS = ("raw_dump/task", "task", "raw_dump", "")
_INNER = ("processed", "")
DUMP_FILES = _PICTURES, _SNAPSHOTS = "screenshot.json", "dom_content.json"


class TaskDump:
    """The dump of one task, in the folder `root` with the task files; it may lack everything."""

    def __init__(self, root: Path, annotation_id: str):
        self._root = root
        self.folder = _find(root, annotation_id)
        self._addresses = {uid: fields for uid, _, fields in self._members(_SNAPSHOTS, _address)}
        self._starts = {uid: start for uid, start, _ in self._members(_PICTURES, lambda member: None)}

    def address(self, action_uid: str) -> tuple[str, str]:
        """Address and title of the page before an action; empty where the dump does not have them."""
        return self._addresses.get(action_uid, ("", ""))

    def picture(self, action_uid: str) -> bytes | None:
        """The picture of the whole page before an action, if there is one. Raises InputError."""
        start = self._starts.get(action_uid)
        if self.folder is None or start is None:
            return None
        file = self.folder / _PICTURES
        where = f"{file}: the action at byte {start}"
        member = parse_json(next(list_members(file, start, MAX_MEMBER_BYTES, self._root))[1], where)
        with explained(where, "the screenshots of an action"):
            return _decoded(member["before"]["screenshot"])

    def _members(self, name: str, read: Callable[[dict[str, Any]], Any]) -> Iterator[tuple[str, int, Any]]:
        """Of each action in a file: its uid, where it begins, and what `read` makes of it."""
        if self.folder is None or not (file := self.folder / name).exists():
            return
        for start, content in list_members(file, 0, MAX_MEMBER_BYTES, self._root):
            where = f"{file}: the action at byte {start}"
            member = parse_json(content, where)
            with explained(where, "an action of Mind2Web's raw dump"):
                yield str(member["action_uid"]), start, read(member)


def _find(root: Path, annotation_id: str) -> Path | None:
    """The folder of a task; None where there is none. An id is no path."""
    if not annotation_id or annotation_id in (".", "..") or any(sign in annotation_id for sign in "/\\\0:"):
        return None
    candidates = [root / folder / annotation_id / inner for folder in _FOLDERS for inner in _INNER]
    return next((folder for folder in candidates
                 if (folder / _PICTURES).is_file() or (folder / _SNAPSHOTS).is_file()), None)


def _address(member: dict[str, Any]) -> tuple[str, str]:
    snapshot = (member.get("before") or {}).get("dom")
    return (document_address(snapshot), document_title(snapshot)) if snapshot else ("", "")


def _decoded(text: str) -> bytes | None:
    """A picture; None for an empty text, with which the authors mark a picture that could not be taken."""
    if len(text) > 2 * limits.BLOB:
        raise ValueError("a picture that is too large")
    try:
        return base64.b64decode(text, validate=True) or None
    except binascii.Error:
        raise ValueError("not Base64") from None
