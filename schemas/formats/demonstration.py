"""Format of a demonstration (demonstration.json) and of its edits."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from schemas import limits
from schemas.intents import BROWSER_INTENTS
from schemas.types.recordings import Turn

from .agent_steps import TurnReportSchema
from .alignment import AlignmentSchema, VideoPlacementSchema
from .arguments import ARGUMENTS
from .outcome import OutcomeSchema
from .parts import (
    SCREENSHOT_SOURCES,
    SCREENSHOT_STATUSES,
    SHA256,
    ElementSchema,
    PointingSchema,
    SignalSchema,
    StateSchema,
    Strict,
    digest,
    flag,
    integer,
    listing,
    nested,
    newest_version,
    number,
    recording_time,
    string,
)
from .recording import SPEAKERS
from .scheme import QuestionAnswerSchema

FORMAT = "demotape/demonstration"
PROCESSED_FORMAT = "demotape/processed"


class TurnStateSchema(StateSchema):
    """The state before a turn, and how good its picture is."""

    video_time = recording_time("time of the matching frame of the video", allow_none=True)
    screenshot_status = string("`good` or `broken`", validate=validate.OneOf(SCREENSHOT_STATUSES))
    screenshot_source = string("where the screenshot is from when the one that was taken was late or broken: "
                               "`captured` (another of the recording's) or `video`", required=False,
                               validate=validate.OneOf(SCREENSHOT_SOURCES))
    axtree = digest("with `record --axtree`: blob, the state's accessibility tree, a JSON list", required=False)
    screenshot_taken = digest("blob: the screenshot that was taken and is replaced", required=False, allow_none=True)
    screenshot_late = flag("external video: true when it speaks for the screenshot being taken after the action, and "
                           "nothing that is surely better takes its place", required=False)
    similarity = number("external video: SSIM of the screenshot that was taken and the frame at `video_time`, at half "
                        "size in grey", required=False, allow_none=True)
    render_similarity = number("with `check --rendered`: SSIM of the screenshot and the rendered page, in grey, "
                               "without secret fields", required=False)
    confidence = number("external video: how sure `video_time` is, from 0 to 1; below 0.5 is low", required=False)


class CheckSchema(Strict):
    """Something that a reviewer should look at."""

    kind = string("short name of the check, for filters")
    reason = string("one sentence for the reviewer")
    fix = nested(lambda: EditSchema(), "an edit that would mend it", required=False)


class ReactionSchema(Strict):
    """What people put to an utterance: an emoji, the same one of several people told once."""

    emoji = string("the emoji, or the name that the chat tool has for it", validate=validate.Length(1, 100))
    count = integer("how many people", validate=validate.Range(1, limits.MAX_INTEGER))
    speakers = listing(fields.String(validate=validate.OneOf(SPEAKERS)),
                       "instructor, navigator: who of the session is among them, where the chat log tells it",
                       required=False)


CHAT_SOURCES = ("speech",)


def said_by_labels() -> fields.Dict:
    """What people say of a turn or a demonstration."""
    return fields.Dict(keys=fields.String(), values=fields.List(fields.String()), required=False, metadata={
        "description": "what people say of it, by the label's name"})


class ChatTurnSchema(Strict):
    """A turn in which somebody said something."""

    id = string("unique in the demonstration")
    type = string("always `chat`", validate=validate.Equal("chat"))
    timestamp = recording_time("seconds since the recording started")
    speaker = string("instructor or navigator", validate=validate.OneOf(SPEAKERS))
    utterance = string("what was said")
    source = string("`speech`: it was spoken; absent where it was written", required=False,
                    validate=validate.OneOf(CHAT_SOURCES))
    reply_to = string("id of the chat turn that it answers", required=False)
    reactions = listing(fields.Nested(ReactionSchema), "what people put to it", required=False)
    pointing = nested(PointingSchema, "where the instructor of a live room points", required=False)
    model = string("name of the model that wrote it in a live room; absent for a person", required=False)
    checks = listing(fields.Nested(CheckSchema), "what a reviewer should look at", required=False, load_default=list)
    dropped = flag("left out of exports", required=False, load_default=False)
    labels = said_by_labels()


class BrowserTurnSchema(Strict):
    """A turn in which the navigator acted."""

    id = string("unique in the demonstration")
    type = string("always `browser`", validate=validate.Equal("browser"))
    timestamp = recording_time("seconds since the recording started")
    intent = string("kind of action", validate=validate.OneOf(BROWSER_INTENTS))
    arguments = fields.Dict(keys=fields.String(), required=True,
                            metadata={"description": "arguments by intent, see below"})
    element = nested(ElementSchema, "the target; null for intents without one", allow_none=True)
    state = nested(TurnStateSchema, "the state before the action; null when none is known", allow_none=True)
    events = listing(fields.Integer(strict=True), "numbers of the recording's events that this turn folds")
    checks = listing(fields.Nested(CheckSchema), "what a reviewer should look at")
    dropped = flag("left out of exports")
    trusted = flag("false when a driver's script acted, not input of a person or a device; absent otherwise",
                   required=False)
    agent = nested(TurnReportSchema, "what the agent reported; absent without a report", required=False)
    labels = said_by_labels()

    _arguments = {intent: kind() for intent, kind in ARGUMENTS.items()}

    @validates_schema
    def _arguments_fit_intent(self, data: dict[str, Any], **_: Any) -> None:
        if errors := self._arguments[data["intent"]].validate(data["arguments"]):
            raise ValidationError({"arguments": errors})


class TurnField(fields.Field[Turn]):
    """A chat turn or a browser turn, told apart by `type`."""

    type_hint = "Turn"

    _kinds = {"chat": ChatTurnSchema(), "browser": BrowserTurnSchema()}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Turn:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in self._kinds:
            raise ValidationError("Not a turn: type must be `chat` or `browser`.")
        turn: Turn = self._kinds[kind].load(value)
        return turn


class DemonstrationSchema(Strict):
    """demonstration.json: the ordered turns derived from one recording."""

    piece = "demonstration"

    format = string("always `demotape/demonstration`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    id = string("name of the demonstration")
    recording = string("id of the recording that it was derived from")
    task = string("what the navigator was asked to do")
    turns = listing(TurnField(), "turns in order")
    unexplained_changes = integer("controls whose value changed although no turn set it (check `unexplained-change`), "
                                  "counted by `demotape process`; absent in other demonstrations", required=False,
                                  validate=validate.Range(min=0))
    signals = listing(fields.Nested(SignalSchema), "signals of a live room in order: handovers, requests for help, "
                      "the end of the task; absent without any", required=False)
    unmatched_steps = listing(fields.Integer(strict=True), "numbers of the agent's steps to which no turn belongs; "
                              "absent without any", required=False)
    labels = said_by_labels()
    alignment = nested(AlignmentSchema, "how the external video lies on the recording's clock; absent without one",
                       required=False)
    outcome = nested(OutcomeSchema, "in the review app: what makes its task done; absent without checks",
                     required=False)
    answers = listing(fields.Nested(QuestionAnswerSchema), "in exports of the review app: answers to the questions of "
                      "the labelling scheme in force; absent without any", required=False)


class SuppliedInputsSchema(Strict):
    """What was given along when a recording was processed, and is used again the next time."""

    piece = "processed"

    chat = string("name of the chat log, of which a copy lies in the folder `given`", required=False,
                  validate=validate.Regexp(r"^[^/\\\x00]{1,255}$(?!\n)"))
    speakers = fields.Dict(keys=fields.String(), values=fields.String(validate=validate.OneOf(SPEAKERS)),
                           required=False,
                           metadata={"description": "roles by name in the chat, as they were given"})
    video = string("path of the external video", required=False)
    place = nested(VideoPlacementSchema, "a person's word on where that belongs", required=False)
    speech = string("name of the subtitles of what was said, of which a copy lies in the folder `speech`",
                    required=False, validate=validate.Regexp(r"^[^/\\\x00]{1,255}$(?!\n)"))


class ProcessedSchema(Strict):
    """processed.json: the inputs of the demonstration, which is made again only if they change."""

    piece = "processed"

    format = string("always `demotape/processed`", validate=validate.Equal(PROCESSED_FORMAT))
    version = newest_version(PROCESSED_FORMAT)
    inputs = fields.Dict(keys=fields.String(), values=fields.String(), required=True,
                         metadata={"description": "SHA-256 of each input by name, the pipeline's own code among them"})
    demonstration = digest("SHA-256 of demonstration.json")
    derived = listing(fields.String(validate=SHA256), "names of the derived blobs")
    given = nested(SuppliedInputsSchema, "what was given along; absent in files of earlier versions", required=False)


EDIT_OPS = ("drop", "restore", "move", "set_intent", "set_arguments", "retarget", "set_screenshot",
            "set_screenshot_status", "set_utterance", "set_speaker", "add", "merge", "split", "settle", "place_video",
            "set_task", "set_outcome", "label", "end_before", "begin_at", "join", "undo", "redo")


class EditSchema(Strict):
    """One reversible operation on a demonstration; each op uses its own few fields."""

    piece = "edit"

    op = string("what is done", validate=validate.OneOf(EDIT_OPS))
    turn = string("id of the turn; all but place_video, set_task, set_outcome, join, undo and redo; label: "
                  "absent for the demonstration", required=False)
    turns = listing(fields.String(), "drop, restore: ids of several turns, instead of `turn`", required=False,
                    validate=validate.Length(min=1))
    after = string("move, add: id of the turn to stand behind; null for the first place", required=False,
                   allow_none=True)
    intent = string("set_intent: the new intent", required=False, validate=validate.OneOf(BROWSER_INTENTS))
    arguments = fields.Dict(keys=fields.String(), required=False,
                            metadata={"description": "set_intent, set_arguments, split: all arguments of the turn"})
    element = nested(ElementSchema, "retarget: the new target; null: none, where none was recorded", required=False,
                     allow_none=True)
    screenshot = digest("set_screenshot: blob of another picture of the recording", required=False)
    screenshot_time = recording_time("set_screenshot: when that was on the screen, seconds since the recording started",
                             required=False)
    source = string("set_screenshot: whether it was captured or is a frame of the video", required=False,
                    validate=validate.OneOf(SCREENSHOT_SOURCES))
    status = string("set_screenshot_status: good or broken", required=False,
                  validate=validate.OneOf(SCREENSHOT_STATUSES))
    utterance = string("set_utterance: the new text", required=False)
    speaker = string("set_speaker: the new speaker", required=False, validate=validate.OneOf(SPEAKERS))
    other = string("merge: id of the later typing that becomes one with the turn; begin_at: id of the demonstration "
                   "split; join, end_before that came with one: of that which was split off", required=False)
    edits = integer("join: how many edits that follow are the other's", required=False,
                    validate=validate.Range(0, limits.MAX_INTEGER))
    check = string("settle: kind of the checks that were looked at and ask for nothing more", required=False)
    added = TurnField(required=False, metadata={
        "description": "add: the new turn, with the id in `turn`; split: the typing that stands behind the turn"})
    place = nested(VideoPlacementSchema, "place_video: where the external video belongs", required=False)
    label = string("label: its name", required=False)
    said = listing(fields.String(), "label: what is said by it; none takes it away", required=False)
    task = string("set_task: what the navigator was asked to do, in better words; end_before: what they were asked to "
                  "do from there on, where that is something else; join: the same, in all", required=False)
    outcome = nested(OutcomeSchema, "set_outcome, join: what makes the task done; null: nothing says it",
                     required=False, allow_none=True)

    _needs = {"place_video": ("place",), "set_task": ("task",), "set_outcome": ("outcome",),
              "label": ("label", "said"), "move": ("turn", "after"), "set_intent": ("turn", "intent", "arguments"),
              "set_arguments": ("turn", "arguments"), "retarget": ("turn", "element"),
              "set_screenshot_status": ("turn", "status"), "set_utterance": ("turn", "utterance"),
              "set_speaker": ("turn", "speaker"), "set_screenshot": ("turn", "screenshot", "screenshot_time", "source"),
              "add": ("turn", "after", "added"), "merge": ("turn", "other"),
              "split": ("turn", "arguments", "added"), "settle": ("turn", "check"),
              "end_before": ("turn",), "begin_at": ("turn", "other"), "join": ("other",),
              "drop": ("turn",), "restore": ("turn",), "undo": (), "redo": ()}
    _may = {"label": {"turn"}, "end_before": {"task", "other"}, "join": {"edits", "task", "outcome"}}

    @validates_schema
    def _has_its_fields(self, data: dict[str, Any], **_: Any) -> None:
        expected = set(self._needs[data["op"]])
        if data["op"] in ("drop", "restore") and "turns" in data:
            expected = {"turns"}
        expected |= self._may.get(data["op"], set()) & data.keys()
        if missing := sorted(expected - data.keys()):
            raise ValidationError({name: f"Required by {data['op']}." for name in missing})
        if extra := sorted(data.keys() - expected - {"op"}):
            raise ValidationError({name: f"Not allowed with {data['op']}." for name in extra})
