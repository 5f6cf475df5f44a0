"""Pages of judges: a sample that people label without a verdict in sight, and judges compared with what they say."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response as BaseResponse

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.errors import ErrorText, InputError
from curator_web.web.shell.languages import grouped
from pipeline.judging import judgements
from pipeline.judging.figures import Figures
from schemas.files import dump_line

from . import labelling, verdicts

blueprint = Blueprint("judging", __name__, url_prefix="/judging")


@dataclass(frozen=True)
class JudgeRow:
    """A judge in the table. `figures`: None while who looks at it may see none of its verdicts."""

    judge: verdicts.Judge
    figures: Figures | None


@blueprint.get("")
def index() -> str:
    """How far one is with labelling; for leads the sample, the judges, and what they may see of both."""
    db, caller = services().db, account()
    results = verdicts.results(db, caller) if caller.leads else None
    lead_values: dict[str, Any] = {}
    if results:
        lead_values = {"results": results, "most": labelling.DRAW_LIMIT, "limit": verdicts.SHOWN,
                       "judges": [JudgeRow(judge, judge_figures if results.open else None) for judge,
                                  judge_figures in results.figures]}
    return render_template("work/judging.html", standing=labelling.labelling_progress(db, caller), **lead_values)


@blueprint.post("/sample")
def draw() -> BaseResponse:
    """Draw demonstrations more for people to label."""
    drawn = labelling.draw(services().db, _form_integer("count"), _form_integer("seed"), lead())
    flash(_("Drawn: %(count)s more.", count=grouped(drawn)))
    return redirect(url_for(".index"), 303)


@blueprint.post("/verdicts")
def take_file() -> BaseResponse:
    """Verdicts from a file, all or none."""
    caller, file = lead(), request.files.get("file")
    if file is None or not file.filename:
        raise InputError(ErrorText("field file: choose the --out file of demotape judge"))
    accepted = verdicts.store_verdicts(services().db, judgements.read_judgements("the file", file.stream.read()),
                                       caller)
    flash(_("Verdicts: %(new)s new, %(replaced)s replaced, %(strangers)s of recordings outside the project.",
            new=grouped(accepted.new), replaced=grouped(accepted.replaced), strangers=grouped(accepted.strangers)))
    return redirect(url_for(".index"), 303)


take_file.takes_up_to = judgements.LARGEST  # type: ignore[attr-defined]  # a mark on the view, for accounts.py


@blueprint.post("/results")
def show() -> BaseResponse:
    """See verdicts and others' labels of what one has labelled, or of all, from now on."""
    labelling.show(services().db, lead(), bool(request.form.get("all")))
    return redirect(url_for(".index", _anchor="results"), 303)


@blueprint.get("/labels.jsonl")
def labels() -> Response:
    """What most people say, as `demotape judge --labels` takes it."""
    majority = verdicts.results(services().db, lead()).labels
    content = b"".join(dump_line({"id": name, "success": done}) for name, done in sorted(majority.items()))
    return Response(content, mimetype="application/x-ndjson",
                    headers={"Content-Disposition": "attachment; filename=labels.jsonl"})


@blueprint.get("/next")
def following() -> BaseResponse:
    """The next one to label, or back where all is done."""
    next_id = labelling.following(services().db, account(), request.args.get("after"))
    return redirect(url_for(".ask", demonstration_id=next_id) if next_id else url_for(".index"), 303)


@blueprint.get("/<demonstration_id>")
def ask(demonstration_id: str) -> str:
    """Whether a task was done, asked as a judge is asked."""
    db, caller = services().db, account()
    return render_template("work/judging_label.html", standing=labelling.labelling_progress(db, caller),
                           question=labelling.labelling_question(db, services().store, demonstration_id, caller))


@blueprint.post("/<demonstration_id>")
def label(demonstration_id: str) -> BaseResponse:
    """Say it, and go on to the next."""
    said = request.form.get("done", "")
    if said not in ("yes", "no"):
        raise InputError(ErrorText("field done: yes or no"))
    labelling.label(services().db, demonstration_id, said == "yes", account())
    return redirect(url_for(".following", after=demonstration_id), 303)


def _form_integer(name: str) -> int:
    text = request.form.get(name, "").strip()
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 15:
        raise InputError(ErrorText("field %(name)s: must be a whole number of at most 15 digits", name=name))
    return int(text)
