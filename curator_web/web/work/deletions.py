"""Pages of deleting: the ticked demonstrations, what was deleted, and restoring it."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.library import library
from curator_web.demonstrations.listing import deleting
from curator_web.errors import ErrorText, InputError, NotAllowed
from curator_web.web.team.team import ticked

blueprint = Blueprint("deletions", __name__, url_prefix="/deleted")
UNDO = "undo"  # the category of a message that says what can be taken back: the batch, a blank, what was done


@blueprint.post("")
def delete() -> Response:
    """Delete the ticked ones; what is told then has the button that takes it back."""
    if request.form.get("all"):
        raise InputError(ErrorText("all results cannot be deleted together; select demonstrations and clear the box "
                                   "for all results"))
    ids = ticked()
    batch = deleting.delete(services().db, ids, lead())
    flash(f"{batch} Deleted: {len(set(ids))}.", UNDO)
    return redirect(url_for("pages.index"), 303)


@blueprint.get("")
def show() -> str:
    """What can be restored."""
    lead()
    return render_template("work/deleted.html", rows=deleting.deleted(services().db, account()), shown=deleting.SHOWN)


@blueprint.get("/withdrawal/<demonstration_id>")
def ask(demonstration_id: str) -> str:
    """Whether who recorded a demonstration means to withdraw it."""
    row = library.listed(services().db, demonstration_id, account().project)
    if not deleting.may_withdraw(row, account()):
        raise NotAllowed(ErrorText("only the person who recorded a demonstration can withdraw it, while it is a "
                                   "draft or submitted"))
    return render_template("work/withdraw.html", row=row)


@blueprint.post("/withdrawal/<demonstration_id>")
def withdraw(demonstration_id: str) -> Response:
    """Withdraw it."""
    project = account().project
    deleting.withdraw(services().db, demonstration_id, account())
    flash(_("Withdrawn. A lead can restore it."))
    return redirect(url_for("pages.index", project=project), 303)


@blueprint.post("/<batch>/restore")
def restore(batch: str) -> Response:
    """Take a deletion back."""
    flash(_("Restored: %(count)s.", count=deleting.restore(services().db, batch, lead())))
    return redirect(url_for("pages.index"), 303)
