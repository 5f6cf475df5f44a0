"""Cache of decoded demonstrations for the pages of a long session: a turn does not cost the whole session.

Each process has its own. The row of a demonstration is read in every request: its version, which grows with each change
of turns or edits, decides whether the cached turns are still those of the database; edits that another process made
since are read and folded. What changes without a version, such as a damaged database file, is detected by
`intact=False`, which compares the stored text.

A cached demonstration shares its turns between requests: they are read, never changed.
"""

import hashlib
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, LargeBinary, Text, cast, func, select
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import BaseTurns, Demonstration, Edit
from curator_web.errors import InputError
from curator_web.users import project_settings
from curator_web.users.project_settings import Settings
from pipeline.turns.edits import fold_edits, fold_new_edits
from schemas import types

from . import copies, damage, library, project_rules, validation_cache
from .library import Review

MAX_TURNS = 12_000  # of all cached demonstrations of a process; one that has more is cached alone


@dataclass
class _Entry:
    """A demonstration at one version. `fingerprint`: of the stored base turns; `valid_turns`: those of the last
    version that was validated, whose unchanged turns need not be validated again."""

    review: Review
    fingerprint: str
    valid_turns: list[types.Turn] | None = None

    @property
    def is_valid(self) -> bool:
        """Whether this version was validated."""
        return self.valid_turns is self.review.turns


class _Cache:
    """The entries of one database, the most recently used last."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> _Entry | None:
        with self._lock:
            if name in self._entries:
                self._entries.move_to_end(name)
            return self._entries.get(name)

    def put(self, name: str, entry: _Entry) -> None:
        with self._lock:
            self._entries.pop(name, None)
            self._entries[name] = entry
            while len(self._entries) > 1 and self._turns() > MAX_TURNS:
                self._entries.popitem(last=False)

    def _turns(self) -> int:
        return sum(max(len(entry.review.turns), len(entry.review.base["turns"])) for entry in self._entries.values())


_caches: WeakKeyDictionary[Engine, _Cache] = WeakKeyDictionary()
_caches_lock = threading.Lock()


def cached_review(db: Database, demonstration_id: str, *, intact: bool = False) -> Review:
    """As `library.review`, from the cache where it has this version. Raises NotFound, Damaged.

    `intact`: the stored turns are taken to be as they were read; otherwise they are compared.
    """
    cache = _cache_of(db)
    entry = cache.get(demonstration_id)
    current = _current(db, entry, demonstration_id, intact) if entry else None
    current = current or _read(db, demonstration_id)
    cache.put(demonstration_id, current)
    return current.review


def remember_edited(db: Database, before: Review, after: Review) -> None:
    """Cache a demonstration as an edit has just left it, if it was cached before."""
    entry = _cache_of(db).get(after.row.id)
    if entry and entry.review.turns is before.turns and entry.review.base is after.base:
        _cache_of(db).put(after.row.id, replace(entry, review=replace(after, cached=None, folded=after.turns)))


def require_valid(db: Database, review: Review) -> None:
    """Validate a demonstration, only the turns that were changed since it was last valid; raises Damaged."""
    entry = _cache_of(db).get(review.row.id)
    if entry is None or entry.review.turns is not review.turns or entry.review.base is not review.base:
        digests = dict[str, str]()
        review.checked(digests)
        validation_cache.note(db, digests)
        return
    if entry.is_valid:
        return
    with damage.named(review.row.id):
        current = review.current()
        digest = validation_cache.digest(current)
        if digest != review.row.sound:
            _validate(current, entry.valid_turns or [])
            validation_cache.note(db, {review.row.id: digest})
    entry.valid_turns = review.turns


def _validate(current: types.Demonstration, valid_turns: list[types.Turn]) -> None:
    valid = {id(turn) for turn in valid_turns}
    changed = [turn for turn in current["turns"] if id(turn) not in valid]
    with suppress(InputError):  # the message of the whole names the turn by its number
        if len(changed) < len(current["turns"]):
            library.validated({**current, "turns": changed}, library.SCHEMA, "its turns")
            return
    library.validated(current, library.SCHEMA, "its turns")


def _cache_of(db: Database) -> _Cache:
    with _caches_lock:
        return _caches.setdefault(db.engine, _Cache())


def _read(db: Database, demonstration_id: str) -> _Entry:
    """From the database. The version is read first: the text that is compared later can only be newer."""
    review = library.review(db, demonstration_id)
    with damage.named(demonstration_id):
        turns = project_rules.marked(fold_edits(review.base["turns"], review.edits), review.settings, review.edits)
    with db.reading() as session:
        return _Entry(replace(review, cached=None, folded=turns), _fingerprint(session, demonstration_id))


def _current(db: Database, entry: _Entry, demonstration_id: str, intact: bool) -> _Entry | None:
    """The entry at the version of the database; None if it must be read again."""
    before = entry.review
    with db.reading() as session:
        row = library.row_of(session, demonstration_id)
        settings = project_settings.settings_of(session, row.home)
        if row.imported_at != before.row.imported_at or settings != before.settings or row.recording != \
                before.row.recording:
            return None
        if not intact and (_fingerprint(session, demonstration_id) != entry.fingerprint
                           or _edits(session, demonstration_id, 0)[:len(before.edits)] != before.edits):
            return None
        if row.version == before.row.version:
            return replace(entry, review=replace(before, row=row))
        new = _new_edits(session, before, row)
    if new is None:
        return None
    edits, turns = [*before.edits, *new], None
    with damage.named(demonstration_id):
        if settings.counts_as(Settings()):  # otherwise the turns have marks of the project
            turns = fold_new_edits(before.turns, new, len(before.edits))
        if turns is None:
            turns = project_rules.marked(fold_edits(before.base["turns"], edits), settings, edits)
    return replace(entry, review=replace(before, row=row, edits=edits, folded=turns))


def _new_edits(session: Session, before: Review, row: Demonstration) -> list[types.Edit] | None:
    """The edits since a version; None if they do not account for all versions, as when it was processed again."""
    rows = session.execute(select(Edit.version, Edit.content).where(
        Edit.demonstration_id == row.id, Edit.number > len(before.edits)).order_by(Edit.number)).all()
    versions = {version for version, _ in rows if version is not None}
    return [content for _, content in rows] if versions == {*range(before.row.version + 1, row.version + 1)} else None


def _edits(session: Session, demonstration_id: str, after: int) -> list[types.Edit]:
    return list(session.scalars(select(Edit.content).where(
        Edit.demonstration_id == demonstration_id, Edit.number > after).order_by(Edit.number)))


def _fingerprint(session: Session, demonstration_id: str) -> str:
    """Digest of the base turns as they are stored, without decoding them; against damage, not against people."""
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    text = cast(BaseTurns.content, Text)
    stored = func.md5(text) if is_postgresql else cast(text, LargeBinary)  # SQLite has no such function
    with damage.named(demonstration_id):
        value = session.scalars(select(stored).where(
            BaseTurns.demonstration_id == copies.base_of(session, demonstration_id))).one()
    return value if isinstance(value, str) else hashlib.sha256(value).hexdigest()
