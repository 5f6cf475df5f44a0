"""The search index: id, site and task of each demonstration, and the words of its turns, in lower case without accents.

In id, site and task, parts of words are found through their trigrams: in SQLite by an FTS5 table that triggers keep, in
PostgreSQL by an index of pg_trgm. What is shorter than a trigram is looked for in the texts themselves, as are patterns
in SQLite. Words of turns are found by their beginnings: in SQLite by a second FTS5 table, in PostgreSQL by a tsvector.
"""

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Select, and_, func, literal_column, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from curator_web.db.models.core import DemonstrationText
from curator_web.db.patterns import compiled

from .plain_text import plain, without_marks
from .turn_texts import TurnTexts, split_words, words_of

LENGTH = 4000  # characters kept of a demonstration
WORDS = 20  # of a search
PATTERN_LENGTH = 200
TRIGRAM = 3
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# Parts of patterns: what is not plain at all; brackets; one that has no other; what ends a text, or may be left out.
_UNSURE = re.compile(r"\\[xpPQC0-9]|\(\?[a-zA-Z-]*\)|\0")
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\\.|[^()\[\]\\])*\)")
_LONE = re.compile(r"[()\[\]\\]")
_LEFT_OUT = re.compile(r".[?*][?+]?|.\{[^{}]*\}\??|[+.^$]")
_POSTGRESQL = {"b": r"\y", "B": r"\Y", "z": r"\Z"}  # what its expressions write otherwise


def store_text(session: Session, demonstration_id: str, site: str, task: str,
               turn_texts: TurnTexts | None = None) -> bool:
    """Note what a demonstration is found by from now on; `turn_texts`: None for those that it has already. Returns
    whether that is something else than before."""
    row = session.scalars(select(DemonstrationText).where(
        DemonstrationText.demonstration_id == demonstration_id)).first()
    if row is None:
        row = DemonstrationText(demonstration_id=demonstration_id, turn_texts=[])
        session.add(row)
    shown = f"{demonstration_id} {site} {task}"
    texts = row.turn_texts if turn_texts is None else turn_texts
    new = {"text": plain(shown)[:LENGTH], "turn_texts": texts,
           "words": " ".join(words_of([shown, *(text for _, text in texts)]))}
    changed = {name: value for name, value in new.items() if getattr(row, name) != value}
    for name, value in changed.items():
        setattr(row, name, value)
    return bool(changed)


@dataclass(frozen=True)
class SearchQuery:
    """What a search asks for: all of these words or parts of words, or a pattern.

    `beginnings`: of the words as turns have them (`turn_texts.split_words`).
    """

    words: tuple[str, ...] = ()
    pattern: str = ""
    beginnings: tuple[str, ...] = ()

    def in_text(self, text: InstrumentedAttribute[str], dialect: str) -> ColumnElement[bool]:
        """Whether a text fits, by the text alone."""
        if not self.pattern:
            return and_(true(), *(text.contains(word, autoescape=True) for word in self.words))
        if dialect == "postgresql":
            return text.op("~*", return_type=Boolean())(_ESCAPED.sub(_as_postgresql, self.pattern))
        return func.demotape_matches(self.pattern, text, type_=Boolean())

    def fits(self, row: type[DemonstrationText], dialect: str) -> ColumnElement[bool]:
        """Whether a row of the texts, which is found already, fits by its text or its words."""
        if not self.beginnings or dialect != "sqlite":
            return or_(self.in_text(row.text, dialect), *self._in_words(row, dialect))
        return or_(self.in_text(row.text, dialect), and_(true(), *(
            func.instr(" " + row.words, f" {beginning}") > 0 for beginning in self.beginnings)))

    def in_all(self, dialect: str) -> ColumnElement[bool]:
        """Whether a row of the texts fits, found through the indexes where they help."""
        return or_(self._in_trigrams(dialect), *self._in_words(DemonstrationText, dialect))

    def _in_words(self, row: type[DemonstrationText], dialect: str) -> list[ColumnElement[bool]]:
        """As an alternative: whether all words begin words of the turns, of task, site or id. What people wrote is
        quoted, so that nothing of it is read as a query."""
        if not self.beginnings:
            return []
        if dialect == "postgresql":
            query = " & ".join(f"'{beginning}':*" for beginning in self.beginnings)
            words = func.to_tsvector(literal_column("'simple'"), row.words)
            return [words.op("@@", return_type=Boolean())(func.to_tsquery(literal_column("'simple'"), query))]
        match = " AND ".join(f'"{beginning}"*' for beginning in self.beginnings)
        table = func.demonstration_words(match).table_valued("rowid")
        rows: Select[Any] = select(literal_column("rowid")).select_from(table)
        return [row.number.in_(rows)]

    def _in_trigrams(self, dialect: str) -> ColumnElement[bool]:
        if dialect != "sqlite":  # PostgreSQL finds the trigrams itself
            return self.in_text(DemonstrationText.text, dialect)
        needed = needed_texts(self.pattern) if self.pattern else [[word for word in self.words if len(word) >= TRIGRAM]]
        if not all(needed):
            return self.in_text(DemonstrationText.text, dialect)
        query = " OR ".join("(" + " AND ".join('"' + text.replace('"', '""') + '"' for text in texts) + ")"
                            for texts in needed)
        table = func.demonstration_trigrams(query).table_valued("rowid")
        trigrams: Select[Any] = select(literal_column("rowid")).select_from(table)
        remaining = self if self.pattern else SearchQuery(tuple(word for word in self.words if len(word) < TRIGRAM))
        return and_(DemonstrationText.number.in_(trigrams), remaining.in_text(DemonstrationText.text, dialect))


def sought(search: str) -> SearchQuery | None:
    """What a search asks for; None for nothing. `/…/` is a regular expression (RE2's syntax); raises InputError for a
    wrong one."""
    if len(search) > 2 and search.startswith("/") and search.endswith("/"):
        pattern = without_marks(search[1:-1])[:PATTERN_LENGTH]
        compiled(pattern)
        return SearchQuery(pattern=pattern)
    text = plain(search)
    words = tuple(dict.fromkeys(_WORD.findall(text)))[:WORDS] or tuple(text.split())[:WORDS]
    is_in_turns = "_" not in text  # a sign that turns are not searched for: their words end at it
    beginnings = tuple(dict.fromkeys(split_words(search)))[:WORDS] if is_in_turns else ()
    return SearchQuery(words, beginnings=beginnings) if words else None


def needed_texts(pattern: str) -> list[list[str]]:
    """Of each alternative of a pattern the texts of three letters and more that stand in whatever it matches.

    What is no plain letter, in brackets or may be left out ends a text; where that is not sure, there is none.
    """
    if _UNSURE.search(pattern):
        return [[]]
    outside = pattern
    while (inner := _BRACKETS.sub("\0", outside)) != outside:  # the innermost first
        outside = inner
    if _LONE.search(outside):
        return [[]]
    return [[text for text in map(plain, re.split("\0", _LEFT_OUT.sub("\0", alternative))) if len(text) >= TRIGRAM]
            for alternative in outside.split("|")]


def _as_postgresql(escaped: re.Match[str]) -> str:
    return _POSTGRESQL.get(escaped[1], escaped[0])

