"""Made-up demonstrations for the benchmark of the review app: as large and as varied as people's are."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from curator_web.db.database import open_database
from curator_web.db.models.core import BaseTurns, Demonstration, DemonstrationText, Facet, User
from curator_web.demonstrations.library import facets, validation_cache
from curator_web.demonstrations.library.plain_text import plain
from curator_web.demonstrations.library.summary import counts
from curator_web.demonstrations.library.turn_texts import texts_of, words_of
from curator_web.users import add_user, projects, set_password
from schemas.types.recordings import Box, Turn
from schemas.types.recordings import Demonstration as Turns
from tests.support.samples.recording_fixtures import write_recording

TURNS = 43  # on average; WebLINX has 2,337 demonstrations with about 100,000 turns
PASSWORD = "twenty people at once"
STARTED = datetime(2024, 3, 1, 8, tzinfo=UTC)
BATCH = 200
WORDS = ("book", "cheapest", "flight", "hotel", "Lisbon", "Osaka", "Denver", "compare", "recipe", "vegetarian", "order",
         "return", "ticket", "museum", "schedule", "meeting", "doctor", "insurance", "laptop", "weather", "translate",
         "summary", "article", "playlist", "download", "invoice", "subscribe", "review", "garden", "violin")
INTENTS = ("click",) * 18 + ("textInput",) * 6 + ("load",) * 4 + ("scroll",) * 4 + ("hover", "change", "submit", "copy",
                                                                                 "paste", "tabswitch", "upload")
ARGUMENTS: dict[str, dict[str, Any]] = {
    "click": {"x": 400, "y": 200, "button": 0, "modifiers": [], "keyboard": False}, "textInput": {"text": "x"},
    "load": {"url": "https://example.org/", "transition": "link"}, "scroll": {"x": 0, "y": 400},
    "hover": {"x": 4, "y": 2, "button": 0, "modifiers": []}, "change": {"value": "2", "label": "Two"},
    "submit": {}, "copy": {"text": "x"}, "paste": {"text": "x"}, "tabswitch": {"origin": 1, "target": 2},
    "upload": {"files": ["a.pdf"]}}
CHECKS = ("privacy",) + ("no-effect",) * 5 + ("late-screenshot",) * 10


def fill(url: str, demonstrations: int, data: Path, number_of_projects: int) -> int:
    """Fill a new database and the app's data folder; returns how many turns it holds.

    The demonstrations are shared out among so many projects, of which everybody is a member.

    There is one recording, of which each demonstration's is a link: without it they would be told as damaged.
    """
    db, chance, turns = open_database(url), random.Random(7), 0
    recording = write_recording(data / "recordings" / "demo-0")
    blob = next(event["state"]["screenshot"] for event in recording.events if event["state"])
    for number in range(1, demonstrations):
        (data / "recordings" / f"demo-{number}").symlink_to("demo-0")
    names = ["lea", "val", *(f"ann{number}" for number in range(1, 20))]
    for name in names:
        add_user(db, name, {"lea": "lead", "val": "validator"}.get(name, "annotator"))
    for project in names_of(number_of_projects)[1:]:
        projects.add(db, project, project)
        for name in names:
            projects.set_member(db, project, name, {"lea": "lead", "val": "validator"}.get(name, "annotator"))
    set_password(db, "lea", PASSWORD)
    with db.writing() as session:
        hashed = session.get_one(User, "lea").password_hash
        session.execute(update(User).values(password_hash=hashed))
    for batch in _batches(demonstrations, chance, blob, names_of(number_of_projects)):
        with db.writing() as session:
            session.execute(insert(Demonstration), [row for row, _, _ in batch])
            session.execute(insert(BaseTurns), [{"demonstration_id": row["id"], "content": content}
                                                for row, content, _ in batch])
            session.execute(insert(DemonstrationText), [
                _texts(row, content) for row, content, _ in batch])
            session.execute(insert(Facet), [found for _, _, every in batch for found in every])
        turns += sum(row["turns"] for row, _, _ in batch)
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # What the databases do by themselves in time. PostgreSQL is busy for minutes after so much was written at
        # once, which no team does: it is brought to rest first.
        for step in ("VACUUM ANALYZE", "CHECKPOINT") if db.engine.dialect.name == "postgresql" else ("ANALYZE",):
            connection.exec_driver_sql(step)
    db.close()
    return turns


def _texts(row: dict, content: dict) -> dict:
    shown, turn_texts = f"{row['id']} {row['site']} {row['task']}", texts_of(content["turns"])
    return {"demonstration_id": row["id"], "text": plain(shown), "turn_texts": turn_texts,
            "words": " ".join(words_of([shown, *(text for _, text in turn_texts)]))}


def names_of(number: int) -> list[str]:
    """The ids of so many projects."""
    return ["main", *(f"project-{each}" for each in range(2, number + 1))]


def _batches(demonstrations: int, chance: random.Random, blob: str, of: list[str]) -> Iterator[list]:
    for begin in range(0, demonstrations, BATCH):
        rows = [_demonstration(number, chance, blob) for number in range(begin, min(begin + BATCH, demonstrations))]
        # Whose number ends alike must not all be in one project: the status goes by the number.
        yield [({**row, "project": of[(begin + place) // 5 % len(of)]}, content, found)
               for place, (row, content, found) in enumerate(rows)]


def _demonstration(number: int, chance: random.Random, blob: str) -> tuple[dict, Turns, list[dict]]:
    """The row, the base turns and the facets of one."""
    name, site = f"demo-{number}", f"site{chance.randrange(150)}.example"
    task = " ".join(chance.choices(WORDS, k=9))
    turns = [random_turn(place, site, chance, blob) for place in range(TURNS + chance.randint(-2, 3))]
    content: Turns = {"format": "demotape/demonstration", "version": 1, "id": name, "recording": name, "task": task,
               "turns": turns}
    imported = STARTED + timedelta(minutes=17 * number)
    # The queue holds enough drafts at any size; the rest is further on.
    status = chance.choice(("submitted", "validated", "approved", "approved")) if number % 5 == 4 else "draft"
    row = {"id": name, "recording": name, "task": task, "site": site, "status": status, "version": 1,
           "recorded_at": imported - timedelta(days=1), "imported_at": imported, "changed_at": imported,
           "submitted_by": None if status == "draft" else "ann1", "actor": "person",
           "sound": validation_cache.digest(content), **counts(turns, turns, [])}
    found = facets.of_turns(turns, turns, [])
    if status != "draft":
        found |= {("person", "ann1"): 1} | ({("person", "val"): 1} if number % 3 else {})
    return row, content, [{"facet": facet, "value": value, "demonstration_id": name, "count": count}
                          for (facet, value), count in found.items()]


def random_turn(place: int, site: str, chance: random.Random, blob: str) -> Turn:
    """A made-up turn of a site; `blob`: of its state."""
    if place % 8 == 0:
        return {"id": f"t{place}", "type": "chat", "timestamp": place * 4.0, "speaker": "instructor",
                "utterance": " ".join(chance.choices(WORDS, k=12)), "checks": [], "dropped": False}
    intent = chance.choice(INTENTS)
    label = " ".join(chance.choices(WORDS, k=3))
    box: Box = {"x": chance.randrange(1000), "y": chance.randrange(600), "width": 120, "height": 30}
    kind = chance.choice(CHECKS)
    return {"id": f"t{place}", "type": "browser", "timestamp": place * 4.0, "intent": intent,
            "arguments": ARGUMENTS[intent],
            "element": {"uid": str(place), "tag": "a", "role": "link", "name": label, "text": label,
                        "attributes": {"class": "link wide", "href": f"/{label}", "id": f"e{place}"},
                        "xpath": f"/html/body/div[3]/main/ul/li[{place}]/a", "css": f"#e{place}", "frame": [],
                        "bbox": box},
            "state": {"tab": 1, "url": f"https://{site}/{label}", "title": label,
                      "viewport": {"width": 1280, "height": 720}, "zoom": 1, "device_pixel_ratio": 1,
                      "scroll": {"x": 0, "y": 0}, "dom": blob, "elements": blob, "screenshot": blob,
                      "screenshot_time": place * 4 - 0.05, "video_time": place * 4 - 0.05,
                      "screenshot_status": "good"},
            "events": [place], "dropped": False,
            "checks": [{"kind": kind, "reason": "Look at this turn."}] if chance.random() < 0.08 else []}
