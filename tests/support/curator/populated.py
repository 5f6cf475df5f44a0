"""A project with data for all content of the pages."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import update

from curator_web.db.models.room_models import Room, RoomLink
from curator_web.db.models.task_models import Task
from curator_web.db.models.webhook_models import DELIVERED, GIVEN_UP, WebhookDelivery
from curator_web.demonstrations.leases.leases import take_next
from curator_web.demonstrations.library.labels import define
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.demonstrations.listing.comments import add_comment
from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.workflow import training
from curator_web.demonstrations.workflow.answering import answer
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.jobs.export_presets import save as save_preset
from curator_web.judging import labelling, verdicts
from curator_web.tasks.assignment import give, give_back
from curator_web.tasks.bank import decide, propose
from curator_web.users import project_settings
from curator_web.users.projects import write_guidelines
from curator_web.webhooks.events import EVENTS
from pipeline.judging.model_judge import Judgement
from tests.support.curator.curator_fixtures import filmed_recording, make_recording
from tests.support.curator.proofs import write_proof
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL
from tests.support.samples.exchanges import turns_with_console

from .edits import edit

TASKS = ("Book the cheapest flight from Anchorage to Seattle", "Find a vegetarian lasagne that takes under an hour",
         "Compare two laptops and put the lighter one into the basket", "Renew the library card of a child",
         "Send a parcel to a friend")

SCHEME = """\
questions:
  - name: success
    question: Was the task done?
    scope: demonstration
    kind: choice
    options: [done, partly, not done]
    hint: Judge by the last page only.
  - name: cause
    question: What went wrong?
    scope: demonstration
    kind: several
    options: [misread the task, wrong element, site error, gave up]
    when: {success: [partly, not done]}
    required: true
  - name: remark
    question: What should others know about this session?
    scope: demonstration
    kind: text
  - name: clarity
    question: How clear is the intention of this action?
    scope: turn
    kind: scale
    minimum: 1
    maximum: 5
    low: unclear
    high: obvious
"""


def populate(services: Any, folder: Path) -> None:
    """Demonstrations, a preset, a webhook with deliveries, and what `prepare` makes; of the people of the tests."""
    for number, task in enumerate(TASKS, 1):
        options = {"replayable": True, "console": True}
        told = {"options": options, "make_turns": turns_with_console} if number == 4 else {}
        path = make_recording(folder, recording_id=f"rec-{number}", task=task, **told)
        if number == 4:
            write_proof(path)
        import_recording(services.db, services.store, path, recorded_by="lea")
    import_recording(services.db, services.store, filmed_recording(folder), recorded_by="lea")
    prepare(services.db)
    open_rooms(services.db)
    judge(services.db)
    save_preset(services.db, LEA, "A preset " * 6, {"format": "chat", "intents": ["click"], "splits": {"seed": 1}})
    hook, _ = services.webhooks.add(LEA, "https://hook.example/" + "long" * 40, EVENTS)
    services.webhooks.switch(LEA, hook.id, False)  # nothing is sent
    for state, code in ((GIVEN_UP, 500), (DELIVERED, 204)):
        tell_of_delivery(services.db, hook.id, state, code)


def prepare(db) -> None:
    """Something of everything: comments, a question, one sent back, one approved, edits."""
    version = edit(db, "rec-2", {"op": "set_task", "task": "Find a lasagne without meat " * 12}, 1, ANN).version
    version = edit(db, "rec-2", {"op": "undo"}, version, ANN).version
    version = edit(db, "rec-2", {"op": "drop", "turns": ["t3"]}, version, ANN).version
    version = change_status(db, "rec-2", "submitted", version, ANN)
    change_status(db, "rec-2", "returned", version, VAL, "The last turn is missing")
    version = edit(db, "rec-3", {"op": "set_utterance", "turn": "t1", "utterance": "Please"}, 1, ANN).version
    version = change_status(db, "rec-3", "submitted", version, ANN)
    change_status(db, "rec-3", "approved", version, VAL)
    add_comment(db, "rec-1", VAL, "Is this the right field?", turn="t3", kind="question")
    add_comment(db, "rec-1", LEA, "Good otherwise")
    add_comment(db, "rec-1", VAL, "See @lea")
    choose(db, ["rec-5"], LEA)
    version = edit(db, "rec-5", {"op": "drop", "turn": "t3"}, 1, ANN).version
    change_status(db, "rec-5", "submitted", version, ANN)
    change_status(db, "rec-5~2", "submitted", listed(db, "rec-5~2").version, BOB)
    train(db)
    define(db, [{"name": "difficulty", "scope": "demonstration", "kind": "single", "options": ["easy", "hard"],
                 "hint": "For somebody who knows the site"},
                {"name": "kinds", "scope": "turn", "kind": "multiple", "options": ["search", "form"]},
                {"name": "seconds", "scope": "turn", "kind": "number"}], LEA)
    _, same = propose(db, ANN, [{"text": "Find a lamp for " + "a room " * 30, "site": "shop.example"}] * 2)
    with db.writing() as session:
        session.execute(update(Task).where(Task.id == same.id).values(id="task-2"))
    decide(db, LEA, "task-2", "accepted")
    give_back(db, ANN, give(db, ANN).id, "The shop is closed", unachievable=True)
    give(db, LEA)
    versions.save(db, SCHEME, LEA)
    answer(db, "rec-1", [{"question": "success", "value": "partly"}, {"question": "cause", "value": ["gave up"]},
                         {"question": "clarity", "turn": "t3", "value": 4}], LEA)
    for text in ("First", "# What counts\n\n- every click\n\n| seen | say |\n|---|---|\n| an order | `yes` |\n"):
        write_guidelines(db, text, LEA)


def train(db) -> None:
    """Bob has answered what ann submitted, differently."""
    training.choose(db, ["rec-3"], LEA)
    with db.writing() as session:
        project_settings.change(session, LEA, {"training_first": True})
    name = take_next(db, BOB).id
    version = edit(db, name, {"op": "drop", "turn": "t3"}, 1, BOB).version
    version = edit(db, name, {"op": "set_arguments", "turn": "t4", "arguments": {"text": "Long words " * 9}}, version,
                   BOB).version
    change_status(db, name, "submitted", version, BOB)


def open_rooms(db) -> None:
    """A room whose instructor is lea, and one with the link /room-links/link-1."""
    now = datetime.now(UTC)
    with db.writing() as session:
        session.add_all([Room(id="room-1", project="main", task="Find lamps " * 20, opened_by="ann", instructor="lea",
                              pictures=True, opened_at=now),
                         Room(id="room-2", project="main", task="", opened_by="ann", pictures=False, opened_at=now)])
        session.flush()
        session.add(RoomLink(sha256=sha256(b"link-1").hexdigest(), room_id="room-2", created_at=now,
                             expires_at=now + timedelta(days=1)))


def judge(db) -> None:
    """Two judges, and two people who do not agree with them or each other; some is left to label."""
    labelling.draw(db, 6, 0, LEA)
    said = ((ANN, "rec-1", True), (ANN, "rec-2", True), (LEA, "rec-1", False), (LEA, "rec-2", True),
            (LEA, "rec-3", True), (LEA, "rec-4", False))
    for who, name, done in said:
        labelling.label(db, name, done, who)
    labelling.show(db, LEA, False)
    labelling.label(db, "filmed", True, LEA)
    told = ("127.0.0.1:8000", "failure", "The basket is empty. " * 40, 1.5, 90_000, 300, "0" * 64)
    long = "a-model-with-a-very-long-name/of-which-nobody-has-heard-yet-instruct"
    verdicts.store_verdicts(db, [Judgement(f"rec-{number}", name, *told) for number in range(1, 6)
                                 for name in ("llava", long)],
                            LEA)


def tell_of_delivery(db, webhook_id: int, state: str, code: int) -> None:
    """A delivery as if it had been sent."""
    now = datetime.now(UTC)
    with db.writing() as session:
        session.add(WebhookDelivery(
            webhook_id=webhook_id, message=f"msg_{code}", event="comment.added", state=state, tries=9, code=code,
            body={"data": {"demonstration": "rec-1", "who": "ann"}}, next_at=now, made_at=now, ended_at=now))
