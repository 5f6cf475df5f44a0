"""`workflow.edit` and `adjudicating.settle` for edits that refer to nothing in a recording."""

from typing import Any

from curator_web.db.database import Database
from curator_web.demonstrations.workflow import adjudicating, workflow
from curator_web.users import Account


class NoRecordings:
    """A store that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the edit asks for a recording: {name}")


def edit(db: Database, demonstration_id: str, change: dict[str, Any], version: int, account: Account,
         key: str | None = None) -> workflow.EditResult:
    return workflow.edit(db, NoRecordings(), demonstration_id, change, version, account, key)


def settle(db: Database, demonstration_id: str, choices: dict[str, str], version: str, account: Account,
           validate: bool = True) -> None:
    adjudicating.settle(db, NoRecordings(), demonstration_id, choices, version, account, validate)
