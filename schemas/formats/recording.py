"""Format of a recording: recording.json, events.jsonl, chat.jsonl, resources.jsonl, console.jsonl."""

from typing import Any

from marshmallow import fields, validate

from schemas import limits
from schemas.shared import SECRET_DIGESTS

from .network import browser_at_start
from .origin import ImportedSchema, ProvenanceSchema, RecordedRoomSchema
from .parts import (
    SIGNALS,
    STALE_REASONS,
    ElementSchema,
    PointingSchema,
    PointSchema,
    SizeSchema,
    StateSchema,
    Strict,
    digest,
    flag,
    integer,
    length,
    listing,
    nested,
    newest_version,
    recording_time,
    string,
    wall_clock,
)

FORMAT = "demotape/recording"
STATUSES = ("recording", "complete", "recovered")
SPEAKERS = ("instructor", "navigator")
CONSOLE_LEVELS = ("error", "warning", "info", "log", "debug")
CONSOLE_KINDS = ("call", "uncaught", "browser")

PAGE_EVENTS = (
    "pointerdown", "click", "dblclick", "auxclick", "contextmenu", "hover", "keydown", "beforeinput", "input", "change",
    "submit", "wheel", "scroll", "copy", "cut", "paste", "dragstart", "drop", "dragend", "pointerup", "autofill",
)
BROWSER_EVENTS = ("navigate", "tabcreate", "tabremove", "tabswitch", "dialog", "download")
RECORDER_EVENTS = ("screenshot", "pause", "resume", "undo", "mhtml", "sleep")
EVENT_TYPES = PAGE_EVENTS + BROWSER_EVENTS + RECORDER_EVENTS


class SecretDigestsSchema(Strict):
    """Slow digests of typed secrets: these can be found, not read (secret_digests.py)."""

    piece = "recording"

    salt = string("random salt of this recording, 16 bytes", validate=validate.Regexp(r"^[0-9a-f]{32}$(?!\n)"))
    digests = listing(fields.String(validate=validate.Regexp(r"^[0-9a-f]{32}$(?!\n)")),
                      "scrypt of each value, 16 bytes, sorted", validate=validate.Length(1, SECRET_DIGESTS["most"]))


def provenance() -> fields.Field[Any]:
    """The field of that name, of recordings and packages."""
    return nested(ProvenanceSchema, "who acted, consent and licence; absent when not told", required=False)


def secret_digests() -> fields.Field[Any]:
    """The field of that name, of recordings and packages."""
    return nested(SecretDigestsSchema, "digests of secrets that were typed; exports search other demonstrations for "
                  "them; absent when none", required=False)


class RecordingSchema(Strict):
    """recording.json: what was recorded, where and how."""

    piece = "recording"
    type_name = "RecordingManifest"

    format = string("always `demotape/recording`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    id = string("name of the recording, also of its folder",
              validate=validate.Regexp(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$(?!\n)"))
    task = string("what the navigator was asked to do; may be empty")
    started_at = wall_clock("wall clock at time 0, ISO 8601 with offset")
    ended_at = wall_clock("wall clock at the end; null while recording and after a kill", allow_none=True)
    status = string("`recording`, `complete` or `recovered`", validate=validate.OneOf(STATUSES))
    user_agent = string("the browser's User-Agent header")
    browser = string("name and version of the browser")
    viewport = nested(SizeSchema, "viewport of the first tab", allow_none=True)
    options = fields.Dict(keys=fields.String(), required=True,
                          metadata={"description": "options of the recorder that made it"})
    provenance = provenance()
    browser_at_start = browser_at_start()
    last_state = nested(StateSchema, "the tab that was shown, when the recording ended; absent when not told",
                        required=False)
    armed_late = flag("true when new pages had begun to run before the recorder listened in them, as it could not "
                      "reach the browser: their first events may be missing", required=False)
    lost_values = integer("values that could not be read or written, each of which is left out; absent when none",
                          required=False, validate=validate.Range(min=1))
    console_left_out = integer("with --console: lines that pages wrote and that are not kept, as there were too many; "
                               "absent when none", required=False, validate=validate.Range(min=1))
    secret_digests = secret_digests()
    room = nested(RecordedRoomSchema, "the live room in which it was recorded; absent when none", required=False)
    imported = nested(ImportedSchema, "where it is imported from; absent when it was recorded", required=False)


class EventDataSchema(Strict):
    """What an event carries besides its target and state; each type uses its own few fields."""

    x = length("pointer, top-level CSS pixels", required=False)
    y = length("pointer, top-level CSS pixels", required=False)
    button = integer("MouseEvent.button", required=False)
    modifiers = listing(fields.String(validate=validate.OneOf(("Alt", "Control", "Meta", "Shift"))),
                        "modifier keys held", required=False)
    detail = integer("UIEvent.detail: the click count; 0 when a key made the click", required=False)
    pointer_type = string("mouse, pen or touch", required=False)
    changed = flag("hover: whether the page changed while the pointer rested", required=False)
    key = string("KeyboardEvent.key; `Character` in a secret field", required=False)
    code = string("KeyboardEvent.code; empty in a secret field", required=False)
    repeat = flag("KeyboardEvent.repeat", required=False)
    prevented = flag("keydown of Tab, reported again: the page prevented that the focus moves", required=False)
    input_type = string("InputEvent.inputType", required=False)
    value = string("the control's value after the event; `[REDACTED]` in a secret field", required=False)
    value_before = string("input: what the page had put in place of the value of the last `input`; `[REDACTED]` in a "
                          "secret field", required=False)
    chosen_values = listing(fields.String(), "values of all chosen options of a list of which several can be chosen",
                     required=False)
    label = string("the chosen option's label, or labels separated by commas", required=False)
    checked = flag("the control's checked state after the event", required=False)
    secret = flag("true when the value is masked", required=False)
    text = string("what was copied, cut, pasted, or answered to a prompt", required=False)
    files = listing(fields.String(), "names of the chosen, dropped or downloaded files, without paths", required=False)
    scroll = nested(PointSchema, "resulting offsets of the scrolled element", required=False)
    scroll_from = nested(PointSchema, "scroll: offsets before the gesture scrolled the element", required=False)
    snaps = flag("scroll: true when the element has CSS scroll snapping", required=False)
    delta = nested(PointSchema, "wheel: how far it was turned since the last event of the gesture", required=False)
    default_prevented = flag("wheel: true when the page handles the wheel itself", required=False)
    url = string("address navigated to, downloaded from, or of the new tab", required=False)
    transition = string("cause of a navigation: typed, link, form, script, redirect, reload, back, forward, "
                      "same_document", required=False)
    kind = string("kind of dialog: alert, confirm, prompt, beforeunload", required=False)
    message = string("the dialog's message", required=False)
    accepted = flag("the person's answer to the dialog", required=False)
    tab = integer("tab created, removed or switched to", required=False)
    origin = integer("tab switched from; opener of a new tab", required=False, allow_none=True)
    event = integer("screenshot: number of the event that it belongs to; undo: of an event of the action taken back",
                    required=False)
    seconds = recording_time("sleep: how long the machine was asleep", required=False)
    blob = digest("mhtml: blob of the page as one MHTML file", required=False)
    screenshot = digest("screenshot: blob of the better screenshot", required=False)
    screenshot_time = recording_time("screenshot: when what it shows was first painted", required=False)
    stale_because = string("screenshot: as in StateSchema", validate=validate.OneOf(STALE_REASONS), required=False)
    unchanged_until = recording_time("screenshot: as in StateSchema", required=False)
    screenshot_agrees = flag("screenshot: as in StateSchema", required=False)


class EventSchema(Strict):
    """One line of events.jsonl."""

    piece = "event"

    seq = integer("number of the event, from 1 without gaps", validate=validate.Range(min=1))
    time = recording_time("seconds since the recording started, when it happened")
    type = string("kind of event", validate=validate.OneOf(EVENT_TYPES))
    tab = integer("number of the tab, from 1 in order of appearance")
    gesture = integer("number of the event that began the same gesture (a click belongs to its pointerdown); "
                      "its state is the state before the whole gesture", allow_none=True)
    target = nested(ElementSchema, "the element", allow_none=True)
    data = nested(EventDataSchema, "what this type of event carries")
    trusted = flag("false when a script of a driver made the event; absent when the browser did", required=False)
    state = nested(StateSchema, "the state before the event took effect; null when the gesture's first event has it, "
                   "or when the browser gave none", allow_none=True)


class ChatLineSchema(Strict):
    """One line of chat.jsonl, typed while recording."""

    piece = "chat line"

    time = recording_time("seconds since the recording started")
    speaker = string("who said it", validate=validate.OneOf(SPEAKERS))
    utterance = string("what was said; empty when a message is deleted")
    id = string("in a live room: the message's id", required=False)
    changes = string("in a live room: id of the message whose text is now `utterance`, or that is deleted if that is "
                     "empty", required=False)
    began = recording_time("in a live room: when its writing began", required=False)
    received = recording_time("in a live room: when it reached the recorder and was shown there; `time` is when it was "
                              "sent, if that is known", required=False)
    uncertainty = recording_time("in a live room: by how many seconds `time` and `began` may be off", required=False)
    pointing = nested(PointingSchema, "in a live room: where the instructor points", required=False)
    signal = string("in a live room: as in SignalSchema; `utterance` is then a reason, or empty", required=False,
                    validate=validate.OneOf(SIGNALS))
    model = string("in a live room: name of the model that wrote it; absent for a person", required=False)
    success = flag("in a live room, with the signal done: whether the task was achieved", required=False)


class ResourceSchema(Strict):
    """One line of resources.jsonl: a style sheet, image or font that the pages used."""

    piece = "resource"

    url = string("address it was loaded from")
    content_type = string("media type")
    time = recording_time("seconds since the recording started")
    blob = digest("blob: its content")


class ConsoleLineSchema(Strict):
    """One line of console.jsonl: what a page wrote to the console, an error that it did not catch, or what the browser
    has to say of the page."""

    piece = "console line"

    time = recording_time("seconds since the recording started")
    tab = integer("number of the tab")
    url = string("address of the page that the tab showed; a frame in it may have written",
                 validate=validate.Length(max=limits.CONSOLE_TEXT))
    kind = string("`call` (of a function of `console`), `uncaught` (error or rejected promise) or `browser` (what the "
                  "browser says: a request that failed, a policy that was violated; also calls and errors of workers)",
                  validate=validate.OneOf(CONSOLE_KINDS))
    level = string("`error`, `warning`, `info`, `log` or `debug`", validate=validate.OneOf(CONSOLE_LEVELS))
    text = string("what was written, as plain text; of objects what a console shows before they are opened",
                  validate=validate.Length(max=limits.CONSOLE_TEXT))
    script = string("address of the script that wrote it, or of what the browser speaks of", required=False,
                    validate=validate.Length(max=limits.CONSOLE_TEXT))
    line = integer("line in the script, from 1", required=False, validate=validate.Range(min=1))
    column = integer("column in the script, from 1", required=False, validate=validate.Range(min=1))
