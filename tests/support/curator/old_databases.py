"""A database of the review app as each of its versions filled it: plain SQL, without the app's models.

One demonstration, made of the kept recording; three edits by two people; its way to a second review.
"""

import hashlib
import json

from sqlalchemy import Connection, text

from tests.support.kept import DATA

KEPT = DATA / "v1" / "kept"
NOW = "2025-01-02 03:04:05"
DEMONSTRATION = json.loads((KEPT / "demonstration.json").read_bytes())
ID = DEMONSTRATION["id"]
CHAT, TYPING = DEMONSTRATION["turns"][1]["id"], DEMONSTRATION["turns"][3]["id"]
TOKEN = "token-of-ann"
EDITS = [("ann", {"op": "drop", "turn": CHAT}), ("ann", {"op": "undo"}),
         ("val", {"op": "set_arguments", "turn": TYPING, "arguments": {"text": "Eve"}})]
STEPS = [("submitted", "ann", 2), ("validated", "val", 3)]
PROOF = {"format": "demotape/proof", "version": 1, "demonstration": "f" * 64, "recording": ID,
         "made_at": "2025-01-02T03:04:05+00:00", "demotape": "1.0", "browser": "Chromium 1", "live": False,
         "verdict": "same", "last": "same", "seconds": 1.0, "recorded_seconds": 2.0, "missing": [], "turns": []}
LABEL = {"name": "success", "scope": "demonstration", "kind": "single", "options": ["yes", "no"], "hint": ""}


def fill(connection: Connection, revision: str) -> None:
    """Fill the tables of a revision."""
    def insert(table: str, **row) -> None:
        given = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}
        places = ", ".join(f":{name}" for name in given)
        connection.execute(text(f"INSERT INTO {table} ({', '.join(given)}) VALUES ({places})"), given)

    _demonstration(insert, revision)
    if revision >= "0002":
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        if revision >= "0006":
            insert("users", name="ann", role="annotator", made_at=NOW)
            insert("tokens", who="ann", name="first", sha256=digest, scopes=["read", "write", "upload"], made_at=NOW)
            insert("web_sessions", id_sha256="d" * 64, who="ann", browser="Firefox", made_at=NOW, used_at=NOW,
                   expires_at=NOW)
        else:
            insert("users", name="ann", role="annotator", token_sha256=digest, made_at=NOW)
        if revision >= "0008":
            insert("second_factors", who="ann", secret="sealed", last_step=7, recovery=["e" * 64], made_at=NOW)
            insert("identities", issuer="https://id.example.org", subject="248", who="ann", made_at=NOW)
        if revision >= "0012":
            insert("members", project="main", who="ann", role="annotator", joined_at=NOW)
        insert("uploads", id="pack-1", who="ann", size=7, chunk_size=5, digests=["a" * 64, "b" * 64],
               state="receiving", begun_at=NOW, **({"touched_at": NOW} if revision >= "0007" else {}),
               **({"name": "pack-1"} if revision >= "0009" else {}))
        insert("uploaded_chunks", upload_id="pack-1", number=0)
    if revision >= "0003":
        _team(insert, revision)


def _demonstration(insert, revision: str) -> None:
    row = {"id": ID, "recording": ID, "task": DEMONSTRATION["task"], "site": "127.0.0.1", "status": "validated",
           "version": 6, "turns": 11, "dropped": 0, "edited": 1, "checks": 0, "recorded_at": NOW, "imported_at": NOW,
           "changed_at": NOW}
    team = {"submitted_by": "ann", "reviewed_by": "val", "work_seconds": 60, "open_comments": 1}
    insert("demonstrations", **row, **(team if revision >= "0003" else {}))
    if revision >= "0009":
        insert("recording_owners", recording=ID, sent_as=ID)
    insert("base_turns", demonstration_id=ID, content=DEMONSTRATION)
    for number, (who, edit) in enumerate(EDITS, 1):
        since_3 = {"key": f"key-{number}", "version": number + 1} if revision >= "0003" else {}
        insert("edits", demonstration_id=ID, number=number, content=edit, who=who, made_at=NOW, **since_3)
    for number, (status, who, edits) in enumerate(STEPS, 1):
        since_3 = {"edits": edits} if revision >= "0003" else {}
        insert("status_changes", demonstration_id=ID, number=number, status=status, reason="", who=who, made_at=NOW,
               **since_3)


def _team(insert, revision: str) -> None:
    words = [] if revision >= "0011" else [("word", "lamps")]
    for facet, value in (*words, ("intent", "click"), ("person", "ann"), ("person", "val")):
        insert("facets", facet=facet, value=value, demonstration_id=ID, count=1)
    if revision >= "0011":
        insert("demonstration_texts", demonstration_id=ID, text="find lamps")
    insert("comments", demonstration_id=ID, turn=CHAT, kind="question", text="Which lamps?", who="val", made_at=NOW)
    found = {"turns": 11, "intent_match": 1.0, "element_iou": 1.0} | ({"chrf": 0.5} if revision >= "0004" else {})
    insert("second_reviews", demonstration_id=ID, number=2, first="ann", second="val", made_at=NOW,
           **({"unchanged": False} if revision >= "0010" else found))
    insert("audit", made_at=NOW, who="ann", what="submitted", demonstration_id=ID, details={"before": "draft"})
    insert("jobs", kind="import", who="ann", state="failed", arguments={"file": "old.zip"}, done=0, note="", result={},
           tries=3, made_at=NOW)
    insert("settings", name="second_reviews", value={"share": 0.5})
    if revision < "0012":
        insert("settings", name="goal", value={"goal": 7})
        insert("settings", name="labels", value={"labels": [LABEL]})
    if revision >= "0013":
        insert("tasks", id="task-1", project="main", state="accepted", text="Find lamps", url="", site="shop.example",
               category="", difficulty="", answer="", unachievable="", reason="", wanted=1, seed=False, alike=[],
               proposed_by="ann", made_at=NOW)
        insert("assignments", task_id="task-1", who="ann", state="taken", reason="", changed_at=NOW)
    if revision >= "0014":
        insert("saved_filters", project="main", who="ann", name="Drafts", shared=True, content={"status": "draft"},
               made_at=NOW)
    if revision >= "0016":
        insert("notifications", who="ann", project="main", kind="returned", by="val", demonstration_id=ID, count=1,
               made_at=NOW)
        insert("webhooks", project="main", url="https://hook.example", events=["comment.added"], secret="sealed",
               state="on", made_by="ann", made_at=NOW, failures=0)
        insert("webhook_deliveries", webhook_id=1, message="msg_1", event="comment.added", body={"type": "x"},
               state="waiting", tries=0, next_at=NOW, made_at=NOW)
    if revision >= "0017":
        insert("demonstrations", id=f"{ID}~2", project="copies:main", recording=ID, task=DEMONSTRATION["task"],
               site="127.0.0.1", status="submitted", version=2, turns=11, dropped=0, edited=0, checks=0,
               recorded_at=NOW, imported_at=NOW, changed_at=NOW, submitted_by="val")
        insert("pairs", original=ID, copy=f"{ID}~2", made_by="val", made_at=NOW, told={"intent": [["say", "say", 2]]},
               outcome="settled", ended_by="val", ended_at=NOW)
    if revision >= "0019":
        insert("project_settings", project="main", content={"review_steps": 3})
        insert("export_presets", project="main", name="Papers", content={"format": "weblinx"}, changed_by="ann",
               changed_at=NOW)
    if revision >= "0020":
        insert("proofs", demonstration_id=ID, content=PROOF, who="ann", made_at=NOW)
    if revision >= "0021":
        insert("own_keys", who="ann", content={"drop": "ö"})
    if revision >= "0022":
        insert("demonstrations", id=f"{ID}~t1", project="copies:main", recording=ID, task=DEMONSTRATION["task"],
               site="127.0.0.1", status="submitted", version=2, turns=11, dropped=0, edited=0, checks=0,
               recorded_at=NOW, imported_at=NOW, changed_at=NOW, submitted_by="ann")
        insert("training", demonstration_id=ID, made_by="val", made_at=NOW)
        insert("training_tries", copy=f"{ID}~t1", original=ID, who="ann", made_at=NOW,
               told={"intent": [["say", "say", 2]]}, agreed=0, points=1, answer=6, submitted_at=NOW)
    if revision >= "0023":
        for holds in (True, False):  # the last one counts
            rows = [{"id": ID, "holds": holds}, {"id": "gone", "failed": "unknown recording"}]
            insert("jobs", kind="trial", who="ann", project="main", state="done", arguments={"demonstration": ID},
                   done=1, note="", result={"demonstration": ID, "rows": rows}, made_at=NOW, tries=1)
        insert("judging_sample", project="main", demonstration_id=ID, number=1, made_by="val", made_at=NOW)
        insert("judging_labels", project="main", demonstration_id=ID, who="ann", done=True, made_at=NOW)
        insert("judging_verdicts", project="main", demonstration_id=ID, judge="llava", host="127.0.0.1:8000",
               verdict="success", reason="Lamps are shown.", milliseconds=1500, prompt_tokens=900)
    if revision >= "0026":
        insert("rooms", id="room-1", project="main", task="Find lamps", pictures=True, opened_by="ann",
               instructor="val", opened_at=NOW)
        insert("room_links", sha256="f" * 64, room_id="room-1", created_at=NOW, expires_at=NOW)
        insert("room_messages", room_id="room-1", number=1, id="m1", speaker="instructor", who="val", kind="say",
               text="Two lamps", sent=1.5, uncertainty=0.01, time=1.5, stored_at=NOW)
    if revision >= "0027":
        question = {"name": "success", "question": "Done?", "scope": "demonstration", "kind": "choice",
                    "options": ["yes", "no"], "required": False}
        insert("scheme_versions", project="main", number=1, source="questions: []\n",
               content={"questions": [question]}, who="val", saved_at=NOW)
        insert("answers", demonstration_id=ID, question="success", turn="", who="ann", value=json.dumps("yes"),
               scheme=1, independent=True, changed_at=NOW)
    if revision >= "0028":
        for table, who in (("prelabels", "source"), ("known_answers", "who")):
            insert(table, demonstration_id=ID, question="success", turn="", value=json.dumps("no"), saved_at=NOW,
                   **{who: "val"})
    if revision >= "0031":
        insert("rooms", id="room-2", project="main", task="Find desks", pictures=True, opened_by="ann",
               task_id="task-1", opened_at=NOW)
    if revision >= "0030":
        insert("room_messages", room_id="room-1", number=2, id="m2", speaker="instructor", who="val", kind="say",
               text="This one", time=2.5, stored_at=NOW,
               details={"region": {"picture": 1, "x": 0.5, "y": 0.5, "width": 0, "height": 0}})
    if revision >= "0005":
        insert("sign_in_tries", key="c" * 64, count=3, since=NOW)
    else:
        insert("failed_sign_ins", name="ann", address="127.0.0.1", made_at=NOW)
