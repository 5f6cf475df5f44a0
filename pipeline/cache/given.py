"""What was given along with a recording when it was processed: remembered, so that processing again uses it again.

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
from schemas.types import VideoPlacement

from .inputs import of_file

CHAT, VIDEO, SPEECH = KINDS = ("chat", "video", "speech")
PLACE = "place"
_INPUTS = {CHAT: "chat log", VIDEO: "external video", SPEECH: "speech"}  # as the inputs' fingerprint names them
_COPIES = {CHAT: "chat log", SPEECH: "speech"}


@dataclass(frozen=True)
class Given:
    """`chat`, `video`, `speech`: where they lie. `place`: a person's word on where the video belongs. `again`: the
    names of those that were given earlier and are used again; `roles_again`: whether the speakers are those of before.
    `left`: speech of another video, left out now; `beside`: whether the speech was found beside the video."""

    chat: Path | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    video: Path | None = None
    speech: Path | None = None
    again: tuple[str, ...] = ()
    roles_again: bool = False
    left: str = ""
    beside: bool = False
    place: VideoPlacement | None = None


def recall(layout: RecordingLayout, now: Given, without: Collection[str] = ()) -> Given:
    """What a recording is to be processed with: what is given now, else what was given before.

    `without`: of KINDS, what is to be left out, and `place`. Speakers that are given now replace those of before; what
    is said now of the video's place is added to what was said of the same video. The times of speech are those of its
    video: with another video, or without the one of before, it is left out. Raises InputError
    when what was given before cannot be had any more, and when something is given and to be left out.
    """
    for kind in KINDS:
        if kind in without and getattr(now, kind) is not None:
            raise InputError(f"--{kind} and --without-{kind} do not go together")
    note = _note(layout, [kind for kind in KINDS if kind in without or getattr(now, kind) is not None])
    given, digests = note.get("given", {}), note.get("inputs", {})
    settled = {kind for kind in KINDS if kind in without or getattr(now, kind) is not None or kind not in given}
    left = "" if SPEECH in settled or not _is_another_video(now, without, given, digests) else given[SPEECH]
    if left:
        settled.add(SPEECH)
    chat = now.chat if CHAT in settled else _copied(layout.given, given[CHAT], CHAT)
    video = now.video if VIDEO in settled else _video(layout, given[VIDEO], digests.get(_INPUTS[VIDEO], ""))
    speech = now.speech if SPEECH in settled else _copied(layout.speech, given[SPEECH], SPEECH)
    again = tuple(path.name for kind, path in ((CHAT, chat), (VIDEO, video), (SPEECH, speech))
                  if path and kind not in settled)
    kept = {} if {CHAT, SPEECH} <= settled else given.get("speakers", {})
    before = {} if PLACE in without or VIDEO in settled else given.get(PLACE, {})
    return Given(chat, now.speakers or kept, video, speech, again, bool(kept) and not now.speakers, left,
                 place=_placed(before, now.place, video))


def _placed(before: Mapping[str, Any], now: VideoPlacement | None, video: Path | None) -> VideoPlacement | None:
    """A person's word on where the video belongs: what is said now, with what was said before of the same video."""
    if now and video is None:
        raise InputError("a video's offset, drift or rectangle is given without a video; give --video too")
    return cast(VideoPlacement, {**before, **(now or {})}) if video and (before or now) else None


def _note(layout: RecordingLayout, settled: Collection[str]) -> Mapping[str, Any]:
    """What processed.json tells; nothing where there is none, or all that it could tell is settled."""
    if not layout.processed.exists():
        return {}
    try:
        note = read_json(layout.processed, ProcessedSchema())
    except InputError as error:
        if set(settled) >= {CHAT, VIDEO}:
            return {}
        raise InputError(f"{error}; give --chat and --video as before, or --without-chat --without-video") from None
    for kind, name in _INPUTS.items():
        if name in note["inputs"] and kind not in note.get("given", {}) and kind not in settled:
            raise InputError(f"{layout.root}: it was processed with a {name} by an earlier version, which did not "
                             f"remember it; give --{kind} as before, or --without-{kind}")
    return note


def _is_another_video(now: Given, without: Collection[str], given: Mapping[str, Any], digests: Mapping[str, str]
                      ) -> bool:
    """Whether the video is not the one of before; none at all is one, too."""
    if VIDEO in without:
        return VIDEO in given
    return now.video is not None and (VIDEO not in given or of_file(now.video) != digests.get(_INPUTS[VIDEO]))


def _copied(folder: Path, name: str, kind: str) -> Path:
    path = folder / name
    if path.parent != folder or path.is_symlink() or not path.exists():
        raise InputError(f"{path}: the {_COPIES[kind]} that it was processed with is not there; give --{kind}, or "
                         f"--without-{kind}")
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
    """Keep copies of chat log and subtitles; returns what processed.json tells of what was given."""
    told: dict[str, Any] = {"speakers": dict(given.speakers)} if given.speakers else {}
    if given.video is not None:
        told[VIDEO] = str(given.video.resolve())
        if given.place:
            told[PLACE] = dict(given.place)
    for kind, path, folder in ((CHAT, given.chat, layout.given), (SPEECH, given.speech, layout.speech)):
        if path is None:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        if path.parent != folder or len(list(folder.iterdir())) > 1:
            _copy(path, folder)
        told[kind] = path.name
    return told


def _copy(given: Path, folder: Path) -> None:
    """Put a chat log or subtitles into a new folder in the place of the old one."""
    made = Path(tempfile.mkdtemp(prefix=".tmp-", dir=folder.parent))
    try:
        files = sorted(path for path in given.rglob("*") if path.is_file()) if given.is_dir() else [given]
        for path in files:
            target = made / given.name / path.relative_to(given) if given.is_dir() else made / given.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_named(path) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        made.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(made, folder)
    except OSError as error:
        raise InputError(f"{given}: cannot be copied into the recording ({reason(error)})") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
