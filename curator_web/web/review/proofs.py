"""The page of a proof: the result of running a demonstration again, turn by turn, beside what was recorded."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.library import library, replay_proofs
from curator_web.errors import ErrorText, InputError
from curator_web.jobs import replays
from curator_web.web.team.team import ticked
from recorder.reader import Recording
from schemas.types.proof import Proof, TurnProof
from schemas.types.recordings import State

from .presentation import ReviewView, TurnView

blueprint = Blueprint("proofs", __name__)


@dataclass(frozen=True)
class ProofRow:
    """One turn that was run: `turn` as it is now, None when it is there no more; `recorded`: screenshot of the recorded
    state after it."""

    proof: TurnProof
    turn: TurnView | None
    recorded: str | None


@blueprint.get("/demonstrations/<demonstration_id>/proof")
def show(demonstration_id: str) -> str:
    """The result of running it again; asked by htmx, only how far a run is."""
    db = services().db
    job = replays.latest(db, demonstration_id)
    jobs, jobs_url = [job] if job else [], url_for(".show", demonstration_id=demonstration_id)
    if request.headers.get("HX-Request"):
        return render_template("shell/_jobs.html", jobs=jobs, here=jobs_url)
    review, stored = library.review(db, demonstration_id), replay_proofs.stored_proof(db, demonstration_id)
    recording = services().store.open(review.row.recording)
    return render_template(
        "review/proof.html", row=review.row, jobs=jobs, here=jobs_url, kept=stored,
        proof=stored.content if stored else None,
        rows=rows(stored.content, ReviewView(review), recording, review.state_after) if stored else [],
        can_run=replays.can_run(recording), runs=replays.KIND in services().jobs.kinds)


def rows(proof: Proof, review_view: ReviewView, recording: Recording, last_state: State
         | None = None) -> list[ProofRow]:
    """The turns that were run, in the order in which they were; `last_state`: that of the demonstration, if not the
    recording's."""
    turns = {turn.id: turn for turn in review_view.turns}
    last_state = last_state or recording.manifest.get("last_state")
    last = last_state["screenshot"] if last_state else None
    run = proof["turns"]
    after = [*(_before(turns, turn_proof["turn"]) for turn_proof in run[1:]), last]
    return [ProofRow(turn_proof, turns.get(turn_proof["turn"]), shown) for turn_proof,
            shown in zip(run, after, strict=True)]


def _before(turns: Mapping[str, TurnView], name: str) -> str | None:
    turn = turns.get(name)
    return turn.state["screenshot"] if turn and turn.state else None


@blueprint.post("/demonstrations/<demonstration_id>/proof")
def run(demonstration_id: str) -> Response:
    """Run it again."""
    replays.begin(services().db, services().store, services().jobs, [demonstration_id], account())
    return redirect(url_for(".show", demonstration_id=demonstration_id), 303)


@blueprint.post("/runs")
def run_several() -> Response:
    """Run the ticked ones again."""
    if request.form.get("all"):
        raise InputError(ErrorText("all results cannot be replayed together; select demonstrations and clear the box "
                                   "for all results"))
    replays.begin(services().db, services().store, services().jobs, ticked(), lead())
    flash(_("They are replayed one after the other."))
    return redirect(url_for(".runs"), 303)


@blueprint.get("/runs")
def runs() -> str:
    """Runs of several, so far; asked by htmx, only these."""
    jobs = [job for job in services().jobs.latest(replays.KIND, lead().project) if len(job.arguments["ids"]) > 1]
    template = "shell/_jobs.html" if request.headers.get("HX-Request") else "review/runs.html"
    return render_template(template, jobs=jobs, here=url_for(".runs"))
