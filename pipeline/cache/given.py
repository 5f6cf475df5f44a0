"""What was given along with a recording when it was processed: remembered, so that processing again uses it again.

The chat log is copied into the recording's folder; of an external video its path is kept, and its SHA-256 among the
inputs. A recording may come from anybody, so a path counts only together with the content that it had.
"""

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas import InputError, ProcessedSchema, RecordingLayout
from schemas.files import open_named, read_json

from .inputs import of_file

CHAT, VIDEO = KINDS = ("chat", "video")
_INPUTS = {CHAT: "chat log", VIDEO: "external video"}  # as the inputs' fingerprint names them


@dataclass(frozen=True)
class Given:
    """`chat`, `video`: where they lie. `again`: the names of those that were given earlier and are used again."""

    chat: Path | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    video: Path | None = None
    again: tuple[str, ...] = ()


def recall(layout: RecordingLayout, now: Given, without: Collection[str] = ()) -> Given:
    """What a recording is to be processed with: what is given now, else what was given before.

    `without`: of KINDS, what is to be left out. Speakers that are given now replace those of before. Raises InputError
    when what was given before cannot be had any more, and when something is given and to be left out.
    """
    for kind in KINDS:
        if kind in without and getattr(now, kind) is not None:
            raise InputError(f"--{kind} and --without-{kind} do not go together")
    before = _remembered(layout, [kind for kind in KINDS if kind in without or getattr(now, kind) is not None])
    chat = None if CHAT in without else now.chat or before.chat
    video = None if VIDEO in without else now.video or before.video
    again = tuple(path.name for path in (now.chat is None and chat, now.video is None and video) if path)
    kept = before.speakers if chat is not None and now.chat is None else {}
    return Given(chat, now.speakers or kept, video, again)


def _remembered(layout: RecordingLayout, settled: Collection[str]) -> Given:
    """What was given before, but for the kinds that are `settled`."""
    if not layout.processed.exists():
        return Given()
    try:
        note = read_json(layout.processed, ProcessedSchema())
    except InputError as error:
        if set(settled) >= set(KINDS):
            return Given()
        raise InputError(f"{error}; give --chat and --video as before, or --without-chat --without-video") from None
    given: dict[str, Any] = note.get("given", {})
    for kind, name in _INPUTS.items():
        if name in note["inputs"] and kind not in given and kind not in settled:
            raise InputError(f"{layout.root}: it was processed with a {name} by an earlier version, which did not "
                             f"remember it; give --{kind} as before, or --without-{kind}")
    chat = None if CHAT in settled or CHAT not in given else _chat(layout, given[CHAT])
    video = None if VIDEO in settled or VIDEO not in given else _video(layout, given[VIDEO],
                                                                      note["inputs"].get(_INPUTS[VIDEO], ""))
    return Given(chat, given.get("speakers", {}), video)


def _chat(layout: RecordingLayout, name: str) -> Path:
    path = layout.given / name
    if path.parent != layout.given or path.is_symlink() or not path.exists():
        raise InputError(f"{path}: the chat log that it was processed with is not there; give --chat, or "
                         "--without-chat")
    return path


def _video(layout: RecordingLayout, name: str, digest: str) -> Path:
    path = Path(name)
    try:
        same = path.is_absolute() and of_file(path) == digest
    except InputError:
        same = False
    if not same:
        raise InputError(f"{layout.root}: the video that it was processed with is not at {path} any more; give "
                         "--video, or --without-video")
    return path


def remember(layout: RecordingLayout, given: Given) -> dict[str, Any]:
    """Keep a copy of the chat log; returns what processed.json tells of what was given."""
    told: dict[str, Any] = {"speakers": dict(given.speakers)} if given.speakers else {}
    if given.video is not None:
        told[VIDEO] = str(given.video.resolve())
    if given.chat is None:
        shutil.rmtree(layout.given, ignore_errors=True)
        return told
    if given.chat.parent != layout.given:
        _copy(given.chat, layout.given)
    return told | {CHAT: given.chat.name}


def _copy(chat: Path, folder: Path) -> None:
    """Put a chat log into a new folder in the place of the old one."""
    made = Path(tempfile.mkdtemp(prefix=".tmp-", dir=folder.parent))
    try:
        files = sorted(path for path in chat.rglob("*") if path.is_file()) if chat.is_dir() else [chat]
        for path in files:
            target = made / chat.name / path.relative_to(chat) if chat.is_dir() else made / chat.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_named(path) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        made.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(made, folder)
    except OSError as error:
        raise InputError(f"{chat}: cannot be copied into the recording ({error.strerror})") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
