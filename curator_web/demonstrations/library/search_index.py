"""The search index: id, site and task of each demonstration, in lower case without accents.

Parts of words are found through their trigrams: in SQLite by an FTS5 table that triggers keep, in PostgreSQL by an
index of pg_trgm. What is shorter than a trigram is looked for in the texts themselves, as are patterns in SQLite.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Select, and_, func, literal_column, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from curator_web.db.models.core import DemonstrationText
from curator_web.db.patterns import compiled

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


def plain(text: str) -> str:
    """A text as it is searched: small letters without accents."""
    return _without_marks(text).casefold()


def store_text(session: Session, demonstration_id: str, site: str, task: str) -> None:
    """Note what a demonstration is found by from now on."""
    text = plain(f"{demonstration_id} {site} {task}")[:LENGTH]
    row = session.scalars(select(DemonstrationText).where(
        DemonstrationText.demonstration_id == demonstration_id)).first()
    if row is None:
        session.add(DemonstrationText(demonstration_id=demonstration_id, text=text))
    else:
        row.text = text


@dataclass(frozen=True)
class SearchQuery:
    """What a search asks for: all of these words or parts of words, or a pattern."""

    words: tuple[str, ...] = ()
    pattern: str = ""

    def in_text(self, text: InstrumentedAttribute[str], dialect: str) -> ColumnElement[bool]:
        """Whether a text fits, by the text alone."""
        if not self.pattern:
            return and_(true(), *(text.contains(word, autoescape=True) for word in self.words))
        if dialect == "postgresql":
            return text.op("~*", return_type=Boolean())(_ESCAPED.sub(_as_postgresql, self.pattern))
        return func.demotape_matches(self.pattern, text, type_=Boolean())

    def in_all(self, dialect: str) -> ColumnElement[bool]:
        """Whether a row of the texts fits, found through the trigrams where they help."""
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
        pattern = _without_marks(search[1:-1])[:PATTERN_LENGTH]
        compiled(pattern)
        return SearchQuery(pattern=pattern)
    text = plain(search)
    words = tuple(dict.fromkeys(_WORD.findall(text)))[:WORDS] or tuple(text.split())[:WORDS]
    return SearchQuery(words) if words else None


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


def _without_marks(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def _as_postgresql(escaped: re.Match[str]) -> str:
    return _POSTGRESQL.get(escaped[1], escaped[0])

