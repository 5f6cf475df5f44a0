"""Cache of validated turns, because validation takes longer than the rest of a review page.

It is known by a digest of the demonstration as it is now and of the rules, so what is damaged later, or refused by
newer rules, is found.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import update

import schemas
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import DatabaseUnavailable, DiskFull
from schemas import types


def digest(current: types.Demonstration) -> str:
    """SHA-256 of a demonstration with its edits folded in, and of the rules that say how it may be."""
    content = json.dumps(current, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{_rules()}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()


def note(db: Database, digests: Mapping[str, str]) -> None:
    """Keep the digests of demonstrations that were looked through, by their ids; where nothing can be written now,
    they are looked through once more."""
    if digests:
        with suppress(DatabaseUnavailable, DiskFull), db.writing() as session:
            session.execute(update(Demonstration),
                            [{"id": demonstration_id, "sound": value} for demonstration_id, value in digests.items()])


@lru_cache(maxsize=1)
def _rules() -> str:
    """SHA-256 of the schemas' code and of the library that reads by them."""
    rules_digest = hashlib.sha256(version("marshmallow").encode())
    for path in sorted(Path(schemas.__file__).parent.glob("*.py")):
        rules_digest.update(path.read_bytes())
    return rules_digest.hexdigest()
