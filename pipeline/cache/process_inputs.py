"""Inputs that were supplied when a recording was processed, stored for the next run.

Chat log and subtitles are copied into the recording's folder; of an external video its path is kept, and its SHA-256
among the inputs. A recording may come from anybody, so a path counts only together with the content that it had.
"""

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from schemas import InputError, ProcessedSchema, RecordingLayout
from schemas.files import open_named, read_json, reason
from schemas.types.alignment import VideoPlacement

from .inputs import hash_file

CHAT, VIDEO, SPEECH = KINDS = ("chat", "video", "speech")
PLACEMENT = "place"
_INPUTS = {CHAT: "chat log", VIDEO: "external video", SPEECH: "speech"}  # as the inputs' fingerprint names them
_COPIES = {CHAT: "chat log", SPEECH: "speech"}


@dataclass(frozen=True)
class ProcessInputs:
    """`chat`, `video`, `speech`: where they lie. `place`: a person's word on where the video belongs. `again`: the
    names of those that were given earlier and are used again; `reused_roles`: whether the speakers are those of before.
    `left`: speech of another video, left out now; `is_sidecar`: whether the speech was found beside the video."""

    chat: Path | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    video: Path | None = None
    speech: Path | None = None
    reused: tuple[str, ...] = ()
    reused_roles: bool = False
    excluded_speech: str = ""
    is_sidecar: bool = False
    placement: VideoPlacement | None = None


def load_previous(layout: RecordingLayout, now: ProcessInputs, without: Collection[str] = ()) -> ProcessInputs:
    """What a recording is to be processed with: what is given now, else what was given before.

    `without`: of KINDS, what is to be left out, and `place`. Speakers that are given now replace those of before; what
    is said now of the video's place is added to what was said of the same video. The times of speech are those of its
    video: with another video, or without the one of before, it is left out. Raises InputError
    when what was given before cannot be had any more, and when something is given and to be left out.
    """
    for kind in KINDS:
        if kind in without and getattr(now, kind) is not None:
            raise InputError(f"--{kind} and --without-{kind} cannot be combined")
    note = _note(layout, [kind for kind in KINDS if kind in without or getattr(now, kind) is not None])
    previous, digests = note.get("given", {}), note.get("inputs", {})
    settled = {kind for kind in KINDS if kind in without or getattr(now, kind) is not None or kind not in previous}
    left = "" if SPEECH in settled or not _is_another_video(now, without, previous, digests) else previous[SPEECH]
    if left:
        settled.add(SPEECH)
    chat = now.chat if CHAT in settled else _stored_copy(layout.given, previous[CHAT], CHAT)
    video = now.video if VIDEO in settled else _video(layout, previous[VIDEO], digests.get(_INPUTS[VIDEO], ""))
    speech = now.speech if SPEECH in settled else _stored_copy(layout.speech, previous[SPEECH], SPEECH)
    again = tuple(path.name for kind, path in ((CHAT, chat), (VIDEO, video), (SPEECH, speech))
                  if path and kind not in settled)
    speakers = {} if {CHAT, SPEECH} <= settled else previous.get("speakers", {})
    before = {} if PLACEMENT in without or VIDEO in settled else previous.get(PLACEMENT, {})
    return ProcessInputs(chat, now.speakers or speakers, video, speech, again, bool(speakers) and not now.speakers,
                         left,
                 placement=_merge_placement(before, now.placement, video))


def _merge_placement(previous: Mapping[str, Any], now: VideoPlacement | None,
                     video: Path | None) -> VideoPlacement | None:
    """A person's word on where the video belongs: what is said now, with what was said before of the same video."""
    if now and video is None:
        raise InputError("the offset, drift or rectangle of a video requires --video")
    return cast(VideoPlacement, {**previous, **(now or {})}) if video and (previous or now) else None


def _note(layout: RecordingLayout, settled: Collection[str]) -> Mapping[str, Any]:
    """What processed.json tells; nothing where there is none, or all that it could tell is settled."""
    if not layout.processed.exists():
        return {}
    try:
        note = read_json(layout.processed, ProcessedSchema())
    except InputError as error:
        if set(settled) >= {CHAT, VIDEO}:
            return {}
        raise InputError(f"{error}; pass --chat and --video as before, or --without-chat --without-video") from None
    for kind, name in _INPUTS.items():
        if name in note["inputs"] and kind not in note.get("given", {}) and kind not in settled:
            raise InputError(f"{layout.root}: an earlier version processed it with a {name} and did not record its "
                             f"path; pass --{kind} as before, or --without-{kind}")
    return note


def _is_another_video(now: ProcessInputs, without: Collection[str], previous: Mapping[str, Any],
                      digests: Mapping[str, str]
                      ) -> bool:
    """Whether the video is not the one of before; none at all is one, too."""
    if VIDEO in without:
        return VIDEO in previous
    return now.video is not None and (VIDEO not in previous or hash_file(now.video) != digests.get(_INPUTS[VIDEO]))


def _stored_copy(folder: Path, name: str, kind: str) -> Path:
    path = folder / name
    if path.parent != folder or path.is_symlink() or not path.exists():
        raise InputError(f"{path}: the {_COPIES[kind]} of the last run is missing; pass --{kind}, or --without-{kind}")
    return path


def _video(layout: RecordingLayout, name: str, digest: str) -> Path:
    path = Path(name)
    try:
        is_same = path.is_absolute() and hash_file(path) == digest
    except InputError:
        is_same = False
    if not is_same:
        raise InputError(f"{layout.root}: the video of the last run is no longer at {path}; pass --video, or "
                         "--without-video")
    return path


def remember(layout: RecordingLayout, process_inputs: ProcessInputs) -> dict[str, Any]:
    """Keep copies of chat log and subtitles; returns what processed.json tells of what was given."""
    fields: dict[str, Any] = {"speakers": dict(process_inputs.speakers)} if process_inputs.speakers else {}
    if process_inputs.video is not None:
        fields[VIDEO] = str(process_inputs.video.resolve())
        if process_inputs.placement:
            fields[PLACEMENT] = dict(process_inputs.placement)
    for kind, path, folder in ((CHAT, process_inputs.chat, layout.given),
                               (SPEECH, process_inputs.speech, layout.speech)):
        if path is None:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        if path.parent != folder or len(list(folder.iterdir())) > 1:
            _copy(path, folder)
        fields[kind] = path.name
    return fields


def _copy(original: Path, folder: Path) -> None:
    """Put a chat log or subtitles into a new folder in the place of the old one."""
    made = Path(tempfile.mkdtemp(prefix=".tmp-", dir=folder.parent))
    try:
        files = sorted(path for path in original.rglob("*") if path.is_file()) if original.is_dir() else [original]
        for path in files:
            target = made / original.name / path.relative_to(original) if original.is_dir() else made / original.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_named(path) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(made, folder)
    except OSError as error:
        raise InputError(f"{original}: cannot be copied into the recording ({reason(error)})") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
