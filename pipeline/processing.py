"""From a recording to a demonstration: one stage a file, and this list of stages is the whole way.

A stage is a function (demonstration, context) -> demonstration; it never changes what it was given.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from recorder import Recording
from schemas import VERSIONS, DemonstrationSchema
from schemas.demonstration import FORMAT
from schemas.files import dump_json, read_json, validated, write_atomically
from schemas.types import Demonstration

from . import align, chat, checks
from .cache import derived, given, inputs
from .cache.given import Given
from .context import Context
from .export import Source, prepare
from .pages import accessibility_tree
from .turns import folding

STAGES = (
    folding.stage,  # events -> turns
    chat.stage,  # + utterances, from the recording and from a chat log
    align.stage,  # + where each turn is in the video, and which screenshot is good
    accessibility_tree.stage,  # + the accessibility tree of each state, where it is asked for
    checks.stage,  # + what a reviewer should look at
)


def derive(context: Context) -> Demonstration:
    """The demonstration of a recording; raises InputError when the recording or the chat cannot be read."""
    recording = context.recording
    demonstration: Demonstration = {
        "format": FORMAT, "version": VERSIONS[FORMAT], "id": recording.id, "recording": recording.id,
        "task": recording.task, "turns": []}
    for stage in STAGES:
        demonstration = stage(demonstration, context)
    return validated(demonstration, DemonstrationSchema(), f"{recording.layout.root}: demonstration")


def process(path: Path, *, chat: Path | None = None, speakers: Mapping[str, str] | None = None,
            video: Path | None = None, without: Collection[str] = ()) -> Demonstration:
    """Derive a recording's demonstration and write demonstration.json beside it; returns the demonstration.

    `video`: an external video of the session, such as a meeting tool's recording of the screen. Chat, speakers and
    video that are not given are those of the last time; `without` (`chat`, `video`) leaves them out. What an export
    will read is prepared on the way.
    """
    context, along = _context(path, Given(chat, speakers or {}, video), without)
    return _process(context, along, _inputs(context))


def refresh(path: Path, *, chat: Path | None = None, speakers: Mapping[str, str] | None = None,
            video: Path | None = None, without: Collection[str] = ()) -> tuple[Demonstration, bool]:
    """As `process`, but a demonstration that was made from the same inputs stays; returns it and whether it is new."""
    context, along = _context(path, Given(chat, speakers or {}, video), without)
    layout, used = context.recording.layout, _inputs(context)
    if inputs.is_unchanged(layout, used):
        return read_json(layout.demonstration, DemonstrationSchema()), False
    return _process(context, along, used), True


def _context(path: Path, now: Given, without: Collection[str]) -> tuple[Context, Given]:
    recording = Recording(path)
    along = given.recall(recording.layout, now, without)
    return Context(recording, along.chat, along.speakers, along.video), along


def _inputs(context: Context) -> dict[str, str]:
    """What the demonstration will be made from, to be asked before the work: what changes meanwhile is not in it."""
    return inputs.fingerprint(context.recording.layout, context.chat, dict(context.speakers), context.video)


def _process(context: Context, along: Given, used: dict[str, str]) -> Demonstration:
    recording = context.recording
    demonstration = derive(context)
    write_atomically(recording.layout.demonstration, dump_json(demonstration))
    derived.clear(recording.layout, demonstration)
    prepare(Source(demonstration, recording))
    inputs.note(recording.layout, used, given.remember(recording.layout, along))
    return demonstration
