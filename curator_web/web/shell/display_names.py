"""Words of ours that the pages show for what is kept or sent as a name: statuses, roles, kinds of checks and the like.

What is no name of ours, such as the kind of a plug-in's check, is shown as it is.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Flask
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from curator_web.db.models.core import APPROVED, DRAFT, INVALID
from curator_web.demonstrations.workflow import bulk
from curator_web.errors import ErrorText
from curator_web.notifications.reading import NotificationRow
from curator_web.users.own_keys import Action

Words = Mapping[str, Any]  # by name; each is a lazy text
STATUS_NAMES: Words = {
    "draft": _l("Draft"), "submitted": _l("Submitted"), "returned": _l("Sent back"), "validated": _l("Validated"),
    "approved": _l("Approved"), "invalid": _l("Invalid"), "proposed": _l("Proposed"), "accepted": _l("Accepted"),
    "refused": _l("Refused")}
STATUS_WORDS: Words = {  # inside a sentence
    "draft": _l("draft"), "submitted": _l("submitted"), "returned": _l("sent back"), "validated": _l("validated"),
    "approved": _l("approved"), "invalid": _l("invalid")}
VERDICTS: Words = {
    "same": _l("same"), "equivalent": _l("equivalent"), "differs": _l("differs"), "failed": _l("failed"),
    "changed": _l("changed"), "holds": _l("holds"), "fails": _l("fails"), "unknown": _l("unknown")}
ROLES: Words = {"annotator": _l("annotator"), "validator": _l("validator"), "lead": _l("lead")}
SPEAKERS: Words = {"instructor": _l("Instructor"), "navigator": _l("Navigator")}
SPEAKER_WORDS: Words = {"instructor": _l("instructor"), "navigator": _l("navigator")}
ACTORS: Words = {"person": _l("person"), "agent": _l("agent"), "script": _l("script"),
                 "unknown": _l("not stated")}
OUTCOMES: Words = {"success": _l("successful"), "failure": _l("failed"), "undecided": _l("undecided")}
ACCESS: Words = {"active": _l("active"), "disabled": _l("disabled"), "removed": _l("removed")}
PICTURES: Words = {"good": _l("good"), "broken": _l("broken")}
DIFFICULTIES: Words = {"easy": _l("easy"), "medium": _l("medium"), "hard": _l("hard")}
LEVELS: Words = {"error": _l("error"), "warning": _l("warning"), "info": _l("info"), "log": _l("log"),
                 "debug": _l("debug")}
SCOPES: Words = {"demonstration": _l("demonstration"), "turn": _l("turn"), "read": _l("read"), "write": _l("write"),
                 "upload": _l("upload")}
ANSWERS: Words = {"single": _l("single"), "multiple": _l("multiple"), "number": _l("number"), "text": _l("text")}
QUESTION_KINDS: Words = {"choice": _l("one option"), "several": _l("any options"), "scale": _l("scale"),
                         "text": _l("text"), "span": _l("spans of turns")}
CHANGES: Words = {"new": _l("new"), "dropped": _l("dropped"), "restored": _l("restored"), "edited": _l("edited"),
                  "merged into another": _l("merged into another")}
AWAY: Words = {"database": _l("database"), "storage": _l("storage"), "something": _l("something")}
CHECKS: Words = {
    "broken-screenshot": _l("broken screenshot"), "late-screenshot": _l("late screenshot"),
    "unlike-page": _l("unlike page"), "half-loaded": _l("half loaded"), "not-in-video": _l("not in video"),
    "rendered-differently": _l("rendered differently"),
    "unsure-in-video": _l("unsure in video"), "replaced-screenshot": _l("replaced screenshot"),
    "no-element": _l("no element"), "no-box": _l("no box"), "outside-viewport": _l("outside viewport"),
    "not-in-page": _l("not in page"), "empty-input": _l("empty input"), "idle-hover": _l("idle hover"),
    "doubled-submit": _l("duplicate submit"), "against-time": _l("against time"), "against-tabs": _l("against tabs"),
    "long-gap": _l("long gap"), "lost-lines": _l("lost lines"), "import-gap": _l("import gap"),
    "unexplained-change": _l("unexplained change"), "coarse-time": _l("coarse time"),
    "typo": _l("typo"), "personal-data": _l("personal data"), "unused-intent": _l("unused intent")}
KINDS_OF_CHECK: Words = {  # of outcome checks
    "All of these": _l("All of these"), "Any of these": _l("Any of these"), "Not": _l("Not"),
    "Address": _l("Address"), "Text": _l("Text"), "Attribute": _l("Attribute"), "Picture": _l("Picture"),
    "Answer": _l("Answer"), "Request": _l("Request"), "Expression": _l("Expression"),
    "Structured answer": _l("Structured answer"), "Cannot be evaluated": _l("Cannot be evaluated")}
FACETS: Words = {
    "search": _l("Search"), "status": _l("Status"), "proof": _l("Replay result"), "site": _l("Site"),
    "intent": _l("Intent"), "actor": _l("Actor"), "outcome": _l("Outcome"),
    "check": _l("Warnings"), "person": _l("Person"), "label": _l("Label"), "assigned": _l("Assigned to"),
    "since": _l("Recorded from"), "until": _l("Until"), "sort": _l("Sort"), "order": _l("Order"),
    "category": _l("Category"), "difficulty": _l("Difficulty")}
NARROWED: Words = {
    "reviewed": _l("reviewed"), "proven": _l("proven"), "recorded by": _l("recorded by"), "since": _l("since"),
    "until": _l("until"), "actors": _l("actors"), "outcome": _l("outcome"), "websites": _l("websites"),
    "labels": _l("labels"),
    "intents": _l("intents"), "good screenshots": _l("good screenshots"), "without checks": _l("without checks")}
AGREED_ON: Words = {"dropped": _l("dropped or kept"), "intent": _l("intent"), "target": _l("target")}
HOLDOUT_RULES: Words = {"instructor": _l("instructor"), "region": _l("region"), "category": _l("category"),
                        "website": _l("website")}
PERSONAL_DATA: Words = {
    "email": _l("an e-mail address"), "phone": _l("a telephone number"), "card": _l("a card number"),
    "iban": _l("a bank account number"), "id": _l("a national identity number"), "token": _l("a token or password")}
WORK_DONE: Words = {
    "bulk": _l("Bulk change finished"), "replay": _l("Replay finished"),
    "recount": _l("Recount after a settings change finished"),
    "proposals": _l("Task proposal by a model finished"), "trial": _l("Trial of outcome checks finished"),
    "export": _l("Export finished"), "import": _l("Import finished")}
WORK_FAILED: Words = {
    "bulk": _l("Bulk change failed"), "replay": _l("Replay failed"),
    "recount": _l("Recount after a settings change failed"),
    "proposals": _l("Task proposal by a model failed"), "trial": _l("Trial of outcome checks failed"),
    "export": _l("Export failed"), "import": _l("Import failed")}
KEYS: Words = {
    "next": _l("Next turn"), "previous": _l("Previous turn"),
    "choose_next": _l("Extend the selection to the next turn"),
    "choose_previous": _l("Extend the selection to the previous turn"), "next_check": _l("Next turn with a warning"),
    "previous_check": _l("Previous turn with a warning"), "filter": _l("Filter the turns by words"),
    "fold": _l("Collapse or expand the turns of this page"),
    "fold_all": _l("Collapse or expand the turns of all pages"), "drop": _l("Drop or restore the turn"),
    "up": _l("Move the turn up"), "down": _l("Move the turn down"), "edit": _l("Edit: go to the first field"),
    "edit_task": _l("Edit the task’s text"), "fix": _l("Apply the fix of the first warning"),
    "fine": _l("Dismiss the first warning"), "broken": _l("Mark the screenshot broken or good"),
    "view": _l("Screenshot, DOM snapshot, video frame"), "after": _l("Later or earlier state"),
    "outlines": _l("Show or hide outlines of the changes"),
    "larger": _l("Zoom the picture: larger, double, normal"), "compare": _l("All of them side by side"),
    "target": _l("Choose another target from a list"), "tree": _l("Choose another target in a tree"),
    "picture": _l("Choose another picture"), "split": _l("Split typing"),
    "merge": _l("Merge with the typing before"),
    "split_session": _l("Split the session before this turn"),
    "join": _l("Join it with the part that was split off"), "add": _l("Add a chat turn"),
    "add_action": _l("Add an action: its element, then its kind"),
    "answer": _l("Answer the questions; a digit chooses an answer"),
    "changes": _l("Changes and their authors"), "guidelines": _l("Show the guidelines"),
    "network": _l("Requests and console until the next action, if recorded"),
    "time_line": _l("Timeline of the session"), "comment": _l("Comment; Enter sends"), "undo": _l("Undo"),
    "redo": _l("Redo"), "approve": _l("Approve or reopen"), "invalid": _l("Mark invalid"),
    "submit": _l("In a team: submit"), "validate": _l("In a team: validate"),
    "send_back": _l("In a team: send back"), "next_demonstration": _l("In a team: next demonstration"),
    "help": _l("All keys")}


def register(app: Flask) -> None:
    """Have templates show them, each by a filter."""
    plain = {"status_name": STATUS_NAMES, "status_word": STATUS_WORDS, "verdict_word": VERDICTS, "role_name": ROLES,
             "speaker_name": SPEAKERS, "kind_word": SPEAKER_WORDS, "actor_name": ACTORS, "access_word": ACCESS,
             "picture_word": PICTURES, "difficulty_name": DIFFICULTIES, "level_word": LEVELS, "scope_name": SCOPES,
             "scope_word": SCOPES, "answer_kind": ANSWERS, "change_word": CHANGES, "waited_for": AWAY,
             "check_name": CHECKS, "facet_name": FACETS, "agreed_on": AGREED_ON, "held_out_by": HOLDOUT_RULES,
             "question_kind": QUESTION_KINDS, "outcome_kind": KINDS_OF_CHECK, "outcome_word": OUTCOMES}
    app.jinja_env.filters.update({name: _filter(words) for name, words in plain.items()})
    app.jinja_env.filters.update(key_does=key_does, change_words=change_words, work_told=job_name,
                                 event_told=event_text, in_language=in_language, narrowed_by=narrowed_by,
                                 personal_data=personal_data)


def _filter(words: Words) -> Any:
    capital = words in (STATUS_NAMES, SPEAKERS, FACETS)

    def shown(name: str) -> str:
        known = words.get(name)
        if known is not None:
            return str(known)
        plain = str(name or "").replace("-", " ").replace("_", " ") if words is CHECKS else str(name or "")
        return plain.capitalize() if capital else plain

    return shown


def verdict(name: str) -> str:
    """The result of a check or a run, in a word."""
    return str(VERDICTS.get(name, name))


def narrowed_by(options: Iterable[str]) -> list[str]:
    """What narrows an export, in words."""
    return [str(NARROWED.get(name, name)) for name in options]


def personal_data(kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """Kinds of personal data, each with what it is."""
    return [(name, str(PERSONAL_DATA.get(name, words))) for name, words in kinds.items()]


def change_words(change: bulk.Change) -> str:
    """What a change does, as on a button."""
    if change.kind == bulk.STATUS:
        words = {APPROVED: _("Approve"), INVALID: _("Mark invalid"), DRAFT: _("Reopen")}
        return words.get(change.to or "") or _("Set %(status)s", status=change.to)
    if change.kind == bulk.ASSIGN:
        return _("Assign to %(who)s", who=change.to) if change.to else _("Assign to nobody")
    return _("Move to %(project)s", project=change.to or _("nobody"))


def job_name(row: NotificationRow) -> str:
    """A notification of a job that ended."""
    done = row.kind == "job-done"
    known = (WORK_DONE if done else WORK_FAILED).get(row.work or "")
    if known is not None:
        return str(known)
    return _("Finished: your %(work)s", work=row.work) if done else _("Failed: your %(work)s", work=row.work)


def event_text(row: NotificationRow) -> str:
    """A notification of what somebody did."""
    actor = row.by or _("Unknown user")
    return {"mentioned": _("%(who)s mentioned you", who=actor), "commented": _("%(who)s commented", who=actor),
            "asked": _("%(who)s asked you a question", who=actor), "answered": _("%(who)s replied to you", who=actor),
            "assigned": _("%(who)s assigned this to you", who=actor),
            "returned": _("%(who)s sent this back to you", who=actor),
            "task-accepted": _("%(who)s accepted your task", who=actor),
            "task-returned": _("%(who)s sent your task back", who=actor),
            "task-refused": _("%(who)s refused your task", who=actor)}[row.kind]


def key_does(action: Action) -> str:
    """What a key does."""
    return str(KEYS[action.name])


def error_words(error: Exception) -> str:
    """What an error says, in the language of the page; English where it comes from formats or the pipeline."""
    return in_language(error.args[0]) if error.args and isinstance(error.args[0], ErrorText) else str(error)


def in_language(text: str) -> str:
    """The text of an error, in the language of the page."""
    if not isinstance(text, ErrorText):
        return text
    template = _(text.template)
    return template % {name: _value(name, value) for name, value in text.values.items()} if text.values else template


def _value(name: str, value: object) -> object:
    words = {"status": STATUS_WORDS, "status2": STATUS_WORDS, "role": ROLES, "scope": SCOPES}.get(name, {})
    return in_language(value) if isinstance(value, ErrorText) else words.get(str(value), value)
