"""A person's own keys: the page on which they choose them, and what all pages show and do by them."""

from dataclasses import dataclass

from flask import Blueprint, Flask, flash, g, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.users import own_keys

blueprint = Blueprint("own_keys", __name__, url_prefix="/keys")
ALL = "all"  # the value of the button that resets every key
_BY_USUAL = {action.usual: action for action in own_keys.ACTIONS}


@dataclass(frozen=True)
class ShownKey:
    """A key as a page shows it: empty where there is none; and as assistive technology is told it (WAI-ARIA 1.2,
    `aria-keyshortcuts`)."""

    key: str
    shown: str
    aria: str


def register(app: Flask) -> None:
    """Have templates, and the macros that they import, ask which key somebody has instead of a usual one."""
    app.jinja_env.filters.update(key_shown=own_keys.shown)
    app.jinja_env.globals.update(own_key=_own_key, key_actions=own_keys.ACTIONS,
                                 pressed_keys=lambda: own_keys.pressed(_own()))


def _own_key(usual: str) -> ShownKey:
    key = _own()[_BY_USUAL[usual].name]
    return _SHOWN.get(key) or _shown(key)


def _shown(key: str) -> ShownKey:
    return ShownKey(key, own_keys.shown(key), "Plus" if key == "+" else key)


_SHOWN = {key: _shown(key) for key in _BY_USUAL}  # a review page asks a hundred times


def _own() -> dict[str, str]:
    if "own_keys" not in g:
        g.own_keys = own_keys.keys_of(services().db, account().name)
    return g.own_keys


@blueprint.get("")
def show() -> str:
    """All actions with their keys."""
    return _page(_own(), {})


@blueprint.post("")
def change() -> str | Response | tuple[str, int]:
    """Keep all keys of the form; or the page again, which says at each key why it cannot be."""
    supplied = {action.name: request.form.get(f"key-{action.name}", "") for action in own_keys.ACTIONS}
    reset = request.form.get("usual", "")
    supplied = {} if reset == ALL else {name: "" if name == reset else text for name, text in supplied.items()}
    if wrong := own_keys.problems(supplied):
        return _page(supplied, wrong), 400
    own_keys.save_keys(services().db, account().name, supplied)
    flash(_("All keys were reset to their defaults.") if reset == ALL else _("Saved."))
    return redirect(url_for(".show"), 303)


def _page(keys: dict[str, str], wrong: dict[str, str]) -> str:
    return render_template("account/own_keys.html", actions=own_keys.ACTIONS, keys=keys, mine=_own(), wrong=wrong,
                           length=own_keys.LENGTH)
