"""Pages of projects: which there are, who is in one, and its guidelines."""

from flask import Blueprint, redirect, render_template, request, url_for
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug import Response

from curator_web import users
from curator_web.access.accounts import account, lead, manager
from curator_web.access.services import services
from curator_web.db.models.core import ROLES, Guidelines
from curator_web.demonstrations.workflow import training
from curator_web.errors import ErrorText, NotFound
from curator_web.tasks import expected_end
from curator_web.users import projects

blueprint = Blueprint("projects", __name__, url_prefix="/projects")
# What a lead writes is text: no HTML in it counts, and links lead to the web only.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@blueprint.get("")
def index() -> str:
    """The projects that one is in, and for who manages them the form of a new one."""
    return render_template("team/projects.html", mine=projects.memberships(services().db, account()))


@blueprint.post("")
def add() -> Response:
    """Make a project, and lead it."""
    made = projects.add(services().db, request.form.get("id", "").strip(), request.form.get("name", ""), manager())
    return redirect(url_for(".show", project=made.id), 303)


@blueprint.get("/<project>")
def show(project: str) -> str:
    """Who is in a project; its lead changes that, its name and its guidelines."""
    db = services().db
    members = projects.members(db, project)
    inside = {member.who for member in members}
    others = [user.name for user in users.everybody(db) if user.name not in inside] if account().leads else []
    trained = training.overview(db, account()) if account().leads else None
    return render_template("team/project.html", members=members, others=others, roles=ROLES, training=trained,
                           guidelines=projects.newest_guidelines(db, project), limit=projects.GUIDELINES_LENGTH)


@blueprint.post("/<project>/name")
def rename(project: str) -> Response:
    """Give it another name."""
    projects.rename(services().db, request.form.get("name", ""), lead())
    return redirect(url_for(".show", project=project), 303)


@blueprint.post("/<project>/answers")
def answers(project: str) -> Response:
    """Have who is given a task see its expected answer, or not."""
    expected_end.show_answers(services().db, lead(), bool(request.form.get("shown")))
    return redirect(url_for("project_settings.show", project=project), 303)


@blueprint.post("/<project>/members")
def member(project: str) -> Response:
    """Take somebody in, change their role, or let them go."""
    projects.set_member(services().db, project, request.form.get("who", ""), request.form.get("role") or None, lead())
    return redirect(url_for(".show" if account().name != request.form.get("who") else ".index", project=project), 303)


@blueprint.post("/<project>/guidelines")
def write(project: str) -> Response:
    """A new version of the guidelines."""
    projects.write_guidelines(services().db, request.form.get("text", ""), lead())
    return redirect(url_for(".guidelines", project=project), 303)


@blueprint.get("/<project>/guidelines")
def guidelines(project: str) -> str:
    """The guidelines, or an earlier version of them; asked by htmx, only their text."""
    versions = projects.guidelines(services().db, project)
    wanted = request.args.get("version", type=int)
    shown = next((version for version in versions if wanted in (None, version.number)), None)
    if shown is None and wanted is not None:
        raise NotFound(ErrorText("unknown version %(wanted)s of these guidelines", wanted=wanted))
    text = rendered_guidelines(shown)
    template = "shell/_guidelines.html" if request.headers.get("HX-Request") else "team/guidelines.html"
    return render_template(template, versions=versions, shown=shown, text=text)


def rendered_guidelines(version: Guidelines | None) -> Markup:
    """A version of the guidelines as HTML that markdown-it has sanitised; empty without guidelines."""
    return Markup(_MARKDOWN.render(version.text)) if version else Markup("")
