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
TURNS, PICTURE, TURN, DEMONSTRATION = AREAS = ("turns", "picture", "turn", "demonstration")


@dataclass(frozen=True)
class Action:
    """What a key does, the usual one, and the area of the review page to which it belongs."""

    name: str
    usual: str
    does: str
    area: str


# All of them, in the order in which they are shown. Pages and scripts know each by its usual key.
ACTIONS = tuple(Action(*line) for line in (
    ("next", "j", "Next turn", TURNS), ("previous", "k", "Previous turn", TURNS),
    ("choose_next", "Shift+J", "Extend the selection to the next turn", TURNS),
    ("choose_previous", "Shift+K", "Extend the selection to the previous turn", TURNS),
    ("next_check", ".", "Next turn with a warning", TURNS),
    ("previous_check", ",", "Previous turn with a warning", TURNS),
    ("filter", "/", "Filter the turns by words", TURNS),
    ("fold", "Shift+F", "Collapse or expand the turns of this page", TURNS),
    ("fold_all", "Shift+A", "Collapse or expand the turns of all pages", TURNS),
    ("drop", "d", "Drop or restore the turn", TURN), ("up", "Alt+ArrowUp", "Move the turn up", TURN),
    ("down", "Alt+ArrowDown", "Move the turn down", TURN), ("edit", "e", "Edit: go to the first field", TURN),
    ("edit_task", "Shift+E", "Edit the task’s text", DEMONSTRATION),
    ("fix", "f", "Apply the fix of the first warning", TURN), ("fine", "y", "Dismiss the first warning", TURN),
    ("broken", "b", "Mark the screenshot broken or good", PICTURE),
    ("view", "v", "Screenshot, DOM snapshot, video frame", PICTURE),
    ("after", "l", "Later or earlier state", PICTURE),
    ("outlines", "Shift+C", "Show or hide outlines of the changes", PICTURE),
    ("larger", "q", "Zoom the picture: larger, double, normal", PICTURE),
    ("compare", "c", "All of them side by side", PICTURE),
    ("target", "t", "Choose another target from a list", PICTURE),
    ("tree", "Shift+T", "Choose another target in a tree", PICTURE),
    ("picture", "p", "Choose another picture", PICTURE), ("split", "x", "Split typing", TURN),
    ("merge", "g", "Merge with the typing before", TURN),
    ("split_session", "Shift+X", "Split the session before this turn", DEMONSTRATION),
    ("join", "Shift+M", "Join it with the part that was split off", DEMONSTRATION),
    ("add", "o", "Add a chat turn", TURN),
    ("add_action", "Shift+O", "Add an action: its element, then its kind", TURN),
    ("answer", "Shift+Q", "Answer the questions; a digit chooses an answer", TURN),
    ("changes", "h", "Changes and their authors", DEMONSTRATION),
    ("guidelines", "Shift+G", "Show the guidelines", DEMONSTRATION),
    ("network", "Shift+N", "Requests and console until the next action, if recorded", PICTURE),
    ("time_line", "z", "Timeline of the session", DEMONSTRATION), ("comment", "m", "Comment; Enter sends", TURN),
    ("undo", "u", "Undo", DEMONSTRATION), ("redo", "Shift+U", "Redo", DEMONSTRATION),
    ("approve", "a", "Approve or reopen", DEMONSTRATION), ("invalid", "i", "Mark invalid", DEMONSTRATION),
    ("submit", "s", "In a team: submit", DEMONSTRATION), ("validate", "w", "In a team: validate", DEMONSTRATION),
    ("send_back", "r", "In a team: send back", DEMONSTRATION),
    ("next_demonstration", "n", "In a team: next demonstration", DEMONSTRATION),
    ("help", "?", "All keys", DEMONSTRATION)))
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
