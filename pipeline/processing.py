"""From a recording to a demonstration: one stage in each file, and the complete list of stages.

A stage is a function (demonstration, context) -> demonstration; it never changes what it was given.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from recorder import Recording
from schemas import VERSIONS, DemonstrationSchema, InputError, RecordingLayout
from schemas.files import dump_json, read_json, validated, write_atomically
from schemas.formats.demonstration import FORMAT
from schemas.types.alignment import VideoPlacement
from schemas.types.recordings import Demonstration

from . import align, chat, checks, similarity
from .cache import derived, inputs, process_inputs
from .cache.process_inputs import ProcessInputs
from .chat.line_ids import keep_chat_ids
from .chat.sidecar_subtitles import sidecar_subtitles
from .context import Context
from .export import Source, prepare
from .turns import agent_steps, folding


def _accessibility_trees(demonstration: Demonstration, context: Context) -> Demonstration:
    if not context.recording.manifest["options"].get("axtree"):
        return demonstration
    from .pages import accessibility_tree  # with a library that drives a browser

    return accessibility_tree.stage(demonstration, context)


STAGES = (
    folding.stage,  # events -> turns
    agent_steps.stage,  # + what an agent reported of its steps
    align.stage,  # + where each turn is in the video, and which screenshot is good
    chat.stage,  # + utterances, from the recording, from a chat log and from the meeting's speech
    similarity.stage,  # + how like the rendered pages are to the screenshots, where that was measured before
    _accessibility_trees,  # + the accessibility tree of each state, where it is asked for
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
            video: Path | None = None, placement: VideoPlacement | None = None, speech: Path | None = None,
            recogniser: str | None = None, model: str | None = None, without: Collection[str] = ()) -> Demonstration:
    """Derive a recording's demonstration and write demonstration.json beside it; returns the demonstration.

    `video`: an external video of the session, such as a meeting tool's recording of the screen; `placement`: a person's
    word on where it belongs. `speech`: subtitles of what was said in it; those that lie beside a video that is given
    are taken by themselves. `recogniser`: the name of one that makes them, with its `model`. What is not given of
    these is that of the last time; `without` (`chat`, `video`, `speech`, `place`) leaves it out. What an export will
    read is prepared on the way.
    """
    context, all_inputs = _context(path, ProcessInputs(chat, speakers or {}, video, speech, placement=placement),
                                       without, recogniser, model)
    return _process(context, all_inputs, _inputs(context))


def refresh(path: Path, *, chat: Path | None = None, speakers: Mapping[str, str] | None = None,
            video: Path | None = None, placement: VideoPlacement | None = None, speech: Path | None = None,
            recogniser: str | None = None, model: str | None = None, without: Collection[str] = ()
            ) -> tuple[Demonstration, bool]:
    """As `process`, but a demonstration that was made from the same inputs stays; returns it and whether it is new."""
    context, all_inputs = _context(path, ProcessInputs(chat, speakers or {}, video, speech, placement=placement),
                                       without, recogniser, model)
    layout, used = context.recording.layout, _inputs(context)
    if inputs.is_unchanged(layout, used):
        return read_json(layout.demonstration, DemonstrationSchema()), False
    return _process(context, all_inputs, used), True


def load_previous(path: Path, now: ProcessInputs, without: Collection[str] = ()) -> ProcessInputs:
    """What a recording will be processed with: what is given now, subtitles beside its video, what was given before.

    Raises InputError as the parts of it do.
    """
    layout = RecordingLayout(path)
    all_inputs = process_inputs.load_previous(layout, now, without)
    if now.video is None or now.speech is not None or "speech" in without:
        return all_inputs
    speech = sidecar_subtitles(now.video)
    if speech is None or (all_inputs.chat is not None and _is_same_content(speech, all_inputs.chat)):
        return all_inputs
    if all_inputs.speech is not None and all_inputs.speech.name != speech.name:
        return all_inputs  # others were given by name the last time
    again = tuple(name for name in all_inputs.reused if all_inputs.speech is None or name != speech.name)
    return replace(all_inputs, speech=speech, is_sidecar=True, reused=again)


def _is_same_content(first: Path, second: Path) -> bool:
    """Whether two files hold the same: subtitles that were given as a chat log are not read twice."""
    return second.is_file() and inputs.hash_file(first) == inputs.hash_file(second)


def _context(path: Path, now: ProcessInputs, without: Collection[str], recogniser: str | None, model: str | None
             ) -> tuple[Context, ProcessInputs]:
    recording = Recording(path)
    if recogniser is not None:
        if now.speech is not None or "speech" in without:
            raise InputError("--recogniser cannot be combined with --speech or --without-speech")
        all_inputs = _with_recognised_speech(recording.layout,
                                     process_inputs.load_previous(recording.layout, now, {*without, "speech"}),
                                 recogniser,
                            model)
    elif model is not None:
        raise InputError("--speech-model requires --recogniser")
    else:
        all_inputs = load_previous(path, now, without)
    return Context(recording, all_inputs.chat, all_inputs.speakers, all_inputs.video,
                   all_inputs.speech, all_inputs.reused_roles,
                   placement=all_inputs.placement), all_inputs


def _with_recognised_speech(layout: RecordingLayout, all_inputs: ProcessInputs, recogniser: str,
                model: str | None) -> ProcessInputs:
    from .speech.transcribing import transcribe  # what decodes sound costs time to import

    if all_inputs.video is None:
        raise InputError("--recogniser requires the meeting's video; pass it with --video")
    return replace(all_inputs, speech=transcribe(all_inputs.video, inputs.hash_file(all_inputs.video),
                                                     recogniser, model, layout.speech))


def _inputs(context: Context) -> dict[str, str]:
    """What the demonstration will be made from, to be asked before the work: what changes meanwhile is not in it."""
    return inputs.fingerprint(context.recording.layout, context.chat, dict(context.speakers), context.video,
                              context.speech, context.placement)


def _with_earlier_chat_ids(demonstration: Demonstration, layout: RecordingLayout) -> Demonstration:
    """The demonstration with the chat ids of demonstration.json, if that exists and can be read."""
    if not layout.demonstration.exists():
        return demonstration
    try:
        return keep_chat_ids(demonstration, read_json(layout.demonstration, DemonstrationSchema()))
    except InputError:  # it is replaced
        return demonstration


def _process(context: Context, all_inputs: ProcessInputs, used: dict[str, str]) -> Demonstration:
    recording = context.recording
    demonstration = _with_earlier_chat_ids(derive(context), recording.layout)
    write_atomically(recording.layout.demonstration, dump_json(demonstration))
    derived.clear(recording.layout, demonstration)
    prepare(Source(demonstration, recording))
    inputs.note(recording.layout, used, process_inputs.remember(recording.layout, all_inputs))
    return demonstration
