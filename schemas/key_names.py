"""Names of keys in xdotool, pyautogui and OpenAI's computer tool, lower-case, with Playwright's."""

from collections.abc import Iterable

KEYS_BY_NAME = {
    "return": "Enter", "enter": "Enter", "kp_enter": "Enter", "tab": "Tab", "space": "Space", "escape": "Escape",
    "esc": "Escape", "backspace": "Backspace", "delete": "Delete", "del": "Delete", "insert": "Insert",
    "home": "Home", "end": "End", "page_up": "PageUp", "pageup": "PageUp", "prior": "PageUp",
    "page_down": "PageDown", "pagedown": "PageDown", "pgup": "PageUp", "pgdn": "PageDown", "next": "PageDown",
    "up": "ArrowUp", "down": "ArrowDown",
    "left": "ArrowLeft", "right": "ArrowRight", "arrowup": "ArrowUp", "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft", "arrowright": "ArrowRight", "ctrl": "Control", "control": "Control",
    "ctrl_l": "Control", "control_l": "Control", "alt": "Alt", "alt_l": "Alt", "option": "Alt", "shift": "Shift",
    "shift_l": "Shift", "super": "Meta", "super_l": "Meta", "meta": "Meta", "cmd": "Meta", "command": "Meta",
    "win": "Meta", "minus": "-", "plus": "+", "slash": "/", "period": ".", "comma": ",",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


def event_keys(names: Iterable[str]) -> str:
    """A combination of keys by their names in events (UI Events, `KeyboardEvent.key`), joined by plus signs."""
    keys = (KEYS_BY_NAME.get(name.lower(), name) for name in names)
    return "+".join(" " if key == "Space" else key for key in keys)
