"""Arguments of browser turns, by intent."""

from marshmallow import fields

from .parts import PointSchema, Strict, flag, integer, length, listing, nested, string


class PointerArguments(Strict):
    """Arguments of click, dblclick and hover."""

    x = length("pointer, top-level CSS pixels", allow_none=True)
    y = length("pointer, top-level CSS pixels", allow_none=True)
    button = integer("MouseEvent.button")
    modifiers = listing(fields.String(), "modifier keys held")
    keyboard = flag("true when a key made the click", load_default=False, required=False)


class TextInputArguments(Strict):
    """Arguments of textInput."""

    text = string("the field's final value; `[REDACTED]` if secret")
    autofill = flag("true when the browser filled the field in; absent otherwise", required=False)


class ChangeArguments(Strict):
    """Arguments of change: a value, or a checked state."""

    value = string("the control's final value", required=False)
    chosen_values = listing(fields.String(), "values of all chosen options, of a list of which several can be chosen",
                     required=False)
    label = string("the chosen option's label, or labels separated by commas", required=False)
    autofill = flag("true when the browser filled the field in; absent otherwise", required=False)
    checked = flag("the control's final checked state", required=False)


class LoadArguments(Strict):
    """Arguments of load."""

    url = string("address")
    transition = string("cause of the navigation")


class ScrollArguments(PointSchema):
    """Arguments of scroll: the resulting offsets of the scrolled element."""

    delta = nested(PointSchema, "how far the wheel was turned, CSS pixels, where the page handled it, as a map does",
                   required=False)
    point = nested(PointSchema, "where it was turned then, top-level CSS pixels", required=False)


class TextArguments(Strict):
    """Arguments of copy and paste."""

    text = string("the text copied or pasted")


class TabArguments(Strict):
    """Arguments of tabcreate and tabremove."""

    tab = integer("number of the tab")


class TabSwitchArguments(Strict):
    """Arguments of tabswitch."""

    origin = integer("tab left", allow_none=True)
    target = integer("tab shown")


class PressArguments(Strict):
    """Arguments of press."""

    key = string("KeyboardEvent.key, with modifiers before it: `Control+a`")


class DragArguments(Strict):
    """Arguments of drag."""

    from_ = nested(PointSchema, "where it began", data_key="from")
    to = nested(PointSchema, "where it ended")


class UploadArguments(Strict):
    """Arguments of upload."""

    files = listing(fields.String(), "file names, without paths")


class DialogArguments(Strict):
    """Arguments of dialog."""

    kind = string("alert, confirm, prompt or beforeunload")
    message = string("the dialog's message")
    accepted = flag("the person's answer")
    text = string("what was typed into a prompt", required=False)


class NoArguments(Strict):
    """Arguments of submit, back, forward and reload: none."""


ARGUMENTS: dict[str, type[Strict]] = {
    "click": PointerArguments, "dblclick": PointerArguments, "hover": PointerArguments, "submit": NoArguments,
    "textInput": TextInputArguments, "change": ChangeArguments, "load": LoadArguments, "scroll": ScrollArguments,
    "copy": TextArguments, "paste": TextArguments, "tabcreate": TabArguments, "tabremove": TabArguments,
    "tabswitch": TabSwitchArguments, "press": PressArguments, "drag": DragArguments, "upload": UploadArguments,
    "dialog": DialogArguments, "back": NoArguments, "forward": NoArguments, "reload": NoArguments,
}
