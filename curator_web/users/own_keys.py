"""Keys of the pages: which there are, and which of them somebody has as other ones.

A key is written as the browser tells it (UI Events, `KeyboardEvent.key`), so what counts is the character that a layout
gives, whatever it takes to type that; before a capital letter from A to Z and before names stands `Shift+` or `Alt+`.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import delete

from curator_web.db.database import Database
from curator_web.db.models.key_models import OwnKeys
from curator_web.errors import ErrorText, InputError

LENGTH = 20  # characters in which a key is written


@dataclass(frozen=True)
class Action:
    """What a key does, and the usual one."""

    name: str
    usual: str
    does: str


# All of them, in the order in which they are shown. Pages and scripts know each by its usual key.
ACTIONS = tuple(Action(*line) for line in (
    ("next", "j", "Next turn"), ("previous", "k", "Previous turn"),
    ("choose_next", "Shift+J", "Extend the selection to the next turn"),
    ("choose_previous", "Shift+K", "Extend the selection to the previous turn"),
    ("next_check", ".", "Next turn with a warning"), ("previous_check", ",", "Previous turn with a warning"),
    ("filter", "/", "Filter the turns by words"), ("fold", "Shift+F", "Collapse or expand the turns of this page"),
    ("fold_all", "Shift+A", "Collapse or expand the turns of all pages"),
    ("drop", "d", "Drop or restore the turn"), ("up", "Alt+ArrowUp", "Move the turn up"),
    ("down", "Alt+ArrowDown", "Move the turn down"), ("edit", "e", "Edit: go to the first field"),
    ("edit_task", "Shift+E", "Edit the task’s text"), ("fix", "f", "Apply the fix of the first warning"),
    ("fine", "y", "Dismiss the first warning"), ("broken", "b", "Mark the screenshot broken or good"),
    ("view", "v", "Screenshot, DOM snapshot, video frame"), ("after", "l", "Later or earlier state"),
    ("outlines", "Shift+C", "Show or hide outlines of the changes"),
    ("larger", "q", "Zoom the picture: larger, double, normal"), ("compare", "c", "All of them side by side"),
    ("target", "t", "Choose another target from a list"), ("tree", "Shift+T", "Choose another target in a tree"),
    ("picture", "p", "Choose another picture"), ("split", "x", "Split typing"),
    ("merge", "g", "Merge with the typing before"),
    ("split_session", "Shift+X", "Split the session before this turn"),
    ("join", "Shift+M", "Join it with the part that was split off"), ("add", "o", "Add a chat turn"),
    ("add_action", "Shift+O", "Add an action: its element, then its kind"),
    ("answer", "Shift+Q", "Answer the questions; a digit chooses an answer"),
    ("changes", "h", "Changes and their authors"), ("guidelines", "Shift+G", "Show the guidelines"),
    ("network", "Shift+N", "Requests and console until the next action, if recorded"),
    ("time_line", "z", "Timeline of the session"), ("comment", "m", "Comment; Enter sends"), ("undo", "u", "Undo"),
    ("redo", "Shift+U", "Redo"), ("approve", "a", "Approve or reopen"), ("invalid", "i", "Mark invalid"),
    ("submit", "s", "In a team: submit"), ("validate", "w", "In a team: validate"),
    ("send_back", "r", "In a team: send back"), ("next_demonstration", "n", "In a team: next demonstration"),
    ("help", "?", "All keys")))
BY_NAME = {action.name: action for action in ACTIONS}
NAMED = ("Delete", "F2", "F8", "Alt+ArrowUp", "Alt+ArrowDown")  # keys that give no character and may be chosen
_SHORT = {"⇧": "Shift", "⌥": "Alt", "up": "ArrowUp", "↑": "ArrowUp", "down": "ArrowDown", "↓": "ArrowDown"}
_BROWSER, _NO_KEY = ErrorText("the browser needs it"), ErrorText("not a key; enter one character")
_NEEDED = {
    **dict.fromkeys(("tab", "enter", "escape", "esc", "space", "backspace"), ErrorText("fields, buttons and dialogs "
                                                                                       "need it")),
    **dict.fromkeys(("arrowup", "arrowdown", "arrowleft", "arrowright", "home", "end", "pageup", "pagedown"),
                    ErrorText("moves through the page")),
    **dict.fromkeys(("insert", "capslock", "scrolllock", "numlock"), ErrorText("screen readers need it"))}


def read_key(text: str) -> str:
    """A key as it is kept, from how people write it (`⇧ x`, `shift+x`, `X`). Raises InputError, which says why, for one
    that cannot be chosen."""
    before, key = _pieces(text.strip())
    modifiers = {_SHORT.get(modifier, modifier).capitalize() for modifier in before}
    if unknown := modifiers - {"Shift", "Alt"}:
        raise InputError(_BROWSER if unknown <= {"Ctrl", "Control", "Meta", "Cmd", "Super"} else _NO_KEY)
    if len(key) != 1:
        return _named(key, modifiers)
    if not key.isprintable() or key.isspace() or unicodedata.category(key)[0] in "MC" or key == "\ufffd":
        raise InputError(_NO_KEY)
    if "Alt" in modifiers:
        raise InputError(ErrorText("with Alt %(browser)s", browser=_BROWSER))
    if key.isdecimal():
        raise InputError(ErrorText("digits repeat the next key"))
    if key.isascii() and key.isupper():
        return f"Shift+{key}"
    if "Shift" not in modifiers:
        return key
    if len(key.upper()) != 1 or key.upper() == key:
        raise InputError(ErrorText("enter the character that this key produces with Shift"))
    return f"Shift+{key.upper()}" if key.isascii() else key.upper()


def _pieces(text: str) -> tuple[list[str], str]:
    """What stands before a key, and the key."""
    prefix, plus = (text[:-1], "+") if text.endswith("+") else (text, "")
    pieces = [*prefix.replace("+", " ").split(), *plus]
    return pieces[:-1], _SHORT.get(pieces[-1].lower(), pieces[-1]) if pieces else ""


def _named(key: str, modifiers: set[str]) -> str:
    names = {name.rpartition("+")[2].lower(): name.rpartition("+")[2] for name in NAMED}
    key_name = "+".join([*sorted(modifiers), names.get(key.lower(), key)])
    if key_name in NAMED:
        return key_name
    if reason := _NEEDED.get(key.lower()):
        raise InputError(reason)
    is_function = key[:1] in ("F", "f") and key[1:].isdecimal()
    raise InputError(_BROWSER if is_function or key.lower() in names else _NO_KEY)


def problems(supplied: Mapping[str, str]) -> dict[str, str]:
    """Why keys cannot be as they are given, by action; what is absent or empty is the usual one."""
    reasons: dict[str, str] = {name[:LENGTH]: "unknown action" for name in supplied.keys() - BY_NAME.keys()}
    keys: dict[str, str] = {}
    for action in ACTIONS:
        text = supplied.get(action.name, "").strip() or action.usual
        try:
            if len(text) > LENGTH:
                raise InputError(_NO_KEY)
            keys[action.name] = action.usual if text == action.usual else read_key(text)
        except InputError as error:
            reasons[action.name] = error.args[0]
    holders: dict[str, Action] = {}
    for action in _usual_first(keys):
        holder = holders.setdefault(keys[action.name], action)
        if holder is not action:
            reasons[action.name] = ErrorText("the key %(key)s is in use: %(action)s", key=shown(keys[action.name]),
                                             action=holder.does)
    return reasons


def _usual_first(keys: Mapping[str, str]) -> Iterable[Action]:
    """The actions that have a key; first those that have the usual one, as who takes that is to choose another."""
    return sorted((action for action in ACTIONS if action.name in keys),
                  key=lambda action: keys[action.name] != action.usual)


def bound(content: Mapping[str, str]) -> dict[str, str]:
    """The key of each action, from what is kept; empty for one whose usual key was chosen for another before it was
    there."""
    chosen = {name: key for name, key in content.items() if name in BY_NAME}
    chosen_keys = set(chosen.values())
    return {action.name: chosen.get(action.name, "" if action.usual in chosen_keys else action.usual)
            for action in ACTIONS}


def pressed(keys: Mapping[str, str]) -> dict[str, str]:
    """What scripts need: the usual key, or nothing, by the pressed one, where that is another."""
    by_pressed = {action.usual: "" for action in ACTIONS if keys[action.name] != action.usual}
    return by_pressed | {keys[action.name]: action.usual for action in ACTIONS
                         if keys[action.name] not in ("", action.usual)}


def shown(key: str) -> str:
    """A key as pages show it: `Shift+X` is `⇧ x`."""
    modifier, plus, name = key.rpartition("+") if key != "+" else ("", "", key)
    name = {"ArrowUp": "↑", "ArrowDown": "↓", "Delete": "Del"}.get(name, name.lower() if plus else name)
    return f"{'⇧' if modifier == 'Shift' else modifier} {name}" if plus else name


def keys_of(db: Database, user_name: str) -> dict[str, str]:
    """The key of each action for somebody."""
    with db.reading() as session:
        row = session.get(OwnKeys, user_name)
        return bound(row.content if row else {})


def save_keys(db: Database, user_name: str, supplied: Mapping[str, str]) -> dict[str, str]:
    """Have somebody's keys be these from now on, all others the usual ones; returns the key of each action. Raises
    InputError for the first that cannot be."""
    for name, reason in sorted(problems(supplied).items()):
        raise InputError(ErrorText("field %(name)s: %(reason)s", name=name, reason=reason))
    wanted = {name: text.strip() for name, text in supplied.items() if text.strip()}
    content = {name: text if text == BY_NAME[name].usual else read_key(text) for name, text in wanted.items()}
    content = {name: key for name, key in content.items() if key != BY_NAME[name].usual}
    with db.writing() as session:
        session.execute(delete(OwnKeys).where(OwnKeys.who == user_name))
        if content:
            session.add(OwnKeys(who=user_name, content=content))
    return bound(content)
