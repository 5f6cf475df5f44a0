"""Pages on which a lead has a model propose tasks: what is sent is shown before, and the result of it after."""

import random
import secrets

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.errors import Conflict, ErrorText
from curator_web.jobs import proposing_tasks
from curator_web.tasks import proposing

blueprint = Blueprint("task_proposals", __name__, url_prefix="/tasks/proposals")
_USUAL = 10  # tasks


@blueprint.get("")
def index() -> str:
    """What may be asked for, what would be sent, and what was asked for so far; asked by htmx, only that."""
    caller, model = lead(), proposing_tasks.require_model(services().model)
    jobs, jobs_url = services().jobs.latest(proposing_tasks.KIND, caller.project), url_for(".index")
    if request.headers.get("HX-Request"):
        return render_template("shell/_jobs.html", jobs=jobs, here=jobs_url)
    wished = _wished() if "count" in request.args else None
    seed = secrets.randbelow(1 << 31)
    sent = proposing.messages(services().db, caller, wished, random.Random(seed)) if wished else []
    return render_template("work/task_proposals.html", jobs=jobs, here=jobs_url, model=model, wished=wished, seed=seed,
                           sent=sent, digest=proposing.digest(sent), usual=_USUAL, most=proposing.MAX_PROPOSALS)


@blueprint.post("")
def begin() -> Response:
    """Send what was shown."""
    caller, wished = lead(), _wished()
    chance = random.Random(request.form.get("seed", 0, type=int))
    sent = proposing.messages(services().db, caller, wished, chance)
    if proposing.digest(sent) != request.form.get("digest"):
        raise Conflict(ErrorText("the example tasks were changed; review the request again"))
    proposing_tasks.begin(services().jobs, services().model, caller, wished, sent)
    return redirect(url_for(".index"), 303)


def _wished() -> proposing.ProposalRequest:
    values = request.values
    return proposing.proposal_request(values.get("count", type=int), values.get("site", ""), values.get("category", ""))
