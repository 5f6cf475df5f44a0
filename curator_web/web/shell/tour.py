"""The first tour of the review page: who has not had it is offered it once in each browser, and may leave it."""

from flask import Blueprint, Flask, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.errors import NotFound
from curator_web.web.account.signing_in import own_address

from .browser_choices import set_choice

blueprint = Blueprint("tour", __name__, url_prefix="/tour")
COOKIE = "demotape-tour"
ANSWERS = TAKE, LEAVE = ("take", "leave")


def register(app: Flask) -> None:
    """Have pages know whether they offer it."""
    app.context_processor(lambda: {"tour_offered": COOKIE not in request.cookies})
    app.register_blueprint(blueprint)


@blueprint.post("")
def answer() -> Response:
    """Begin the tour at a demonstration, or leave it; either way it is not offered again."""
    answer_ = request.form.get("answer", "")
    if answer_ not in ANSWERS:
        raise NotFound(_("unknown answer"))
    address = (url_for("pages.review", demonstration_id=request.form.get("demonstration", "-"), tour=1)
               if answer_ == TAKE
               else own_address(request.form.get("next", "")) or "/")
    response = redirect(address, 303)
    set_choice(response, COOKIE, answer_)
    return response
