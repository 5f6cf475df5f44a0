"""What views need besides the request: the database, the store and who is asking."""

from dataclasses import dataclass

from flask import current_app

from .database import Database
from .inbox import Inbox
from .jobs import Jobs
from .storage import RecordingStore


@dataclass(frozen=True)
class Services:
    """Opened once when the app is made."""

    db: Database
    store: RecordingStore
    who: str
    inbox: Inbox | None
    jobs: Jobs


def services() -> Services:
    """Those of the current app."""
    return current_app.extensions["demotape"]
