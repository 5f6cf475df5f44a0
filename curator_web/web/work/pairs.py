"""Pages of pairs: what two people annotate, comparing it, and settling what differs."""

from collections.abc import Callable

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.library import pairs
from curator_web.demonstrations.workflow import adjudicating, pairing
from curator_web.errors import ErrorText, InputError
from curator_web.web.team.team import ticked

from .pair_view import STATE_WORDS, row_of, shown

blueprint = Blueprint("pairs", __name__, url_prefix="/pairs")
CHOICE = "choice:"  # before a difference's key, in the form


@blueprint.app_context_processor
def _for_masthead() -> dict[str, Callable[[], str | None]]:
    return {"pairs_label": _label}


def _label() -> str | None:
    """What the masthead calls the page: with how many are to compare, for who reviews; None where there are none."""
    caller = g.get("account")
    if caller is None or caller.alone or g.get("membership") is None:
        return None
    total, waiting = pairing.counts(services().db, caller.project)
    if caller.reviews and waiting:
        return _("Double annotation (%(count)s)", count=waiting)
    return _("Double annotation") if total or caller.leads else None


@blueprint.get("")
def index() -> str:
    """The pairs that one has to do with."""
    db, caller = services().db, account()
    listed_pairs = pairing.listed(db, caller)
    with db.reading() as session:
        own_ids = pairs.annotated_by(session, caller.name,
                                     [row.id for pair in listed_pairs for row in (pair.first, pair.second)])
    return render_template("work/pairs.html", rows=[row_of(pair, own_ids, caller) for pair in listed_pairs],
                           share=pairing.share(db, caller.project), limit=pairing.SHOWN)


@blueprint.post("")
def choose() -> Response:
    """Have the ticked demonstrations annotated by two people."""
    if request.form.get("all"):
        raise InputError(_("this cannot be applied to all results; select demonstrations, or set the share"))
    made = pairing.choose(services().db, ticked(), lead())
    flash(_("Double annotation added: %(count)s.", count=made))
    return redirect(url_for(".index"), 303)


@blueprint.post("/share")
def share() -> Response:
    """Set the share of demonstrations that two people annotate."""
    text = request.form.get("share", "").strip()
    if not text.isdecimal() or len(text) > 3:
        raise InputError(ErrorText("field share: must be a number from 0 to 100"))
    made = pairing.set_share(services().db, int(text), lead())
    flash(_("Double annotation for %(percent)s %% from now on; added for %(count)s existing drafts.",
            percent=int(text), count=made))
    return redirect(url_for(".index"), 303)


@blueprint.get("/<demonstration_id>")
def show(demonstration_id: str) -> str:
    """What the two differ in."""
    comparison = adjudicating.compare(services().db, demonstration_id, account())
    return render_template("work/pair.html", found=comparison, row=comparison.first.row, differences=shown(comparison),
                           prefix=CHOICE,
                           state=STATE_WORDS[comparison.paired.state])


@blueprint.post("/<demonstration_id>")
def settle(demonstration_id: str) -> Response:
    """Take the first's or the second's in each, and close the pair."""
    choices = {name.removeprefix(CHOICE): value for name, value in request.form.items() if name.startswith(CHOICE)}
    validate = request.form.get("then") != "review"
    adjudicating.settle(services().db, services().store, demonstration_id, choices, request.form.get("version", ""),
                        account(), validate)
    if not validate:
        return redirect(url_for("pages.review", demonstration_id=demonstration_id), 303)
    flash(_("Settled and validated: %(id)s.", id=demonstration_id))
    return redirect(url_for(".index"), 303)


@blueprint.post("/<demonstration_id>/end")
def end(demonstration_id: str) -> Response:
    """End a pair that is not compared."""
    pairing.end(services().db, demonstration_id, lead())
    flash(_("Ended: %(id)s is now annotated by one person.", id=demonstration_id))
    return redirect(url_for(".index"), 303)
