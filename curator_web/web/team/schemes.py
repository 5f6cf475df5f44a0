"""The page of a project's labelling scheme."""

from typing import NamedTuple

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.schemes import known, measuring, versions
from curator_web.errors import ErrorText, NotFound
from pipeline.labelling.scheme_files import MAX_CHARACTERS, SchemeError

blueprint = Blueprint("schemes", __name__, url_prefix="/projects")
CONTEXT_LINES = 2  # shown before and after a line with a mistake
EXAMPLE = """\
questions:
  - name: success
    question: Was the task done?
    scope: demonstration
    kind: choice
    options: [done, partly, not done]
    required: true
  - name: cause
    question: What went wrong?
    scope: demonstration
    kind: several
    options: [misread the task, wrong element, site error, gave up]
    when: {success: [partly, not done]}
  - name: clarity
    question: How clear is the intention of this action?
    scope: turn
    kind: scale
    minimum: 1
    maximum: 5
    low: unclear
    high: obvious
"""


class SourceLine(NamedTuple):
    """A line of a scheme's text. `is_wrong`: the mistake is there."""

    number: int
    text: str
    is_wrong: bool


@blueprint.get("/<project>/scheme")
def show(project: str) -> str:
    """The questions in force or of an earlier version, and for leads the form that changes them."""
    every, wanted = versions.versions(services().db, project), request.args.get("version", type=int)
    shown = next((version for version in every if wanted in (None, version.number)), None)
    if shown is None and wanted is not None:
        raise NotFound(ErrorText("unknown version %(wanted)s of this scheme", wanted=wanted))
    return _page(every, shown, shown.source if shown else EXAMPLE)


@blueprint.post("/<project>/scheme")
def save(project: str) -> Response | tuple[str, int]:
    """A new version; a mistake is shown at its line, with the text as it was sent."""
    db, source = services().db, request.form.get("source", "")
    try:
        saved = versions.save(db, source, lead())
    except SchemeError as error:
        every = versions.versions(db, project)
        return _page(every, every[0] if every else None, source, error), 400
    flash(_("Version %(number)s is in force.", number=saved.number))
    return redirect(url_for(".show", project=project), 303)


@blueprint.get("/<project>/scheme/answers")
def answers(project: str) -> str:
    """How far annotators agree on each question, and how often they answer as is known."""
    lead()
    return render_template("team/scheme_answers.html", rows=measuring.agreement(services().db, project),
                           reports=known.report(services().db, project))


def lines_around(source: str, line: int | None) -> list[SourceLine]:
    """The line with a mistake, and some before and after it; none where no line is known."""
    if line is None:
        return []
    lines = list(enumerate(source.splitlines(), 1))
    return [SourceLine(number, text, number == line)
            for number, text in lines[max(line - 1 - CONTEXT_LINES, 0):line + CONTEXT_LINES]]


def _page(every: list, shown: versions.SchemeVersion | None, source: str, error: SchemeError | None = None) -> str:
    return render_template("team/scheme.html", versions=every, shown=shown, source=source, error=error,
                           around=lines_around(source, error.line) if error else [], limit=MAX_CHARACTERS,
                           questions=shown.content["questions"] if shown else [], may_edit=account().leads)
