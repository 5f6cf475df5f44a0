"""The columns of the list of demonstrations and the number of rows on a page, chosen in each browser."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, redirect, request, url_for
from flask_babel import lazy_gettext as _l
from werkzeug import Response

from curator_web.demonstrations.listing.listing import PAGE_SIZE, read_filter
from curator_web.errors import ErrorText, InputError
from curator_web.web.shell.browser_choices import set_choice
from curator_web.web.team.team import list_parameters

blueprint = Blueprint("list_view", __name__)
COOKIE = "demotape-list"
COLUMNS = {"picture": _l("Picture"), "turns": _l("Turns"), "dropped": _l("Dropped"), "edited": _l("Edited"),
           "checks": _l("Warnings"), "proof": _l("Replay result"), "status": _l("Status"), "assigned": _l("With"),
           "changed": _l("Changed"), "recorded": _l("Recorded")}
PAGE_SIZES = (25, PAGE_SIZE, 100, 200)


@dataclass(frozen=True)
class ListView:
    """How the list is shown. `page_size`: rows of a page, None for the usual number."""

    columns: frozenset[str] = frozenset(COLUMNS)
    page_size: int | None = None


def read_view(cookie: str) -> ListView:
    """The view that a cookie such as `100.turns.status` contains; what makes no sense in it is the usual."""
    size, *columns = cookie.split(".")
    if size not in map(str, PAGE_SIZES):
        return ListView()
    return ListView(frozenset(columns) & COLUMNS.keys(), int(size))


@blueprint.post("/list-view")
def choose() -> Response:
    """Have the list shown so from now on, from the same demonstration on; `usual`: as in a new browser."""
    sought = read_filter(list_parameters())
    shown: dict[str, Any] = {**sought.parameters(after=sought.after)}
    response = redirect(url_for("pages.index", **shown), 303)
    if request.form.get("usual"):
        response.delete_cookie(COOKIE)
        return response
    size = request.form.get("page_size", "")
    if size not in map(str, PAGE_SIZES):
        raise InputError(ErrorText("field page_size: must be one of %(sizes)s", sizes=", ".join(map(str, PAGE_SIZES))))
    columns = [name for name in COLUMNS if name in request.form.getlist("column")]
    set_choice(response, COOKIE, ".".join((size, *columns)))
    return response
