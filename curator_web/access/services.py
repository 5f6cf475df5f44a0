"""What views need in addition to the request: database, store and account."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app

from curator_web.db.database import Database
from curator_web.jobs.queue import Jobs
from curator_web.jobs.upload_service import UploadService
from curator_web.rooms.live import LiveRooms
from curator_web.storage.recordings import RecordingStore
from curator_web.users import SecondFactors, SignInAttemptLimits
from curator_web.webhooks.hooks import Webhooks

from .openid_settings import OpenIDSettings

if TYPE_CHECKING:
    from pipeline.judging.model_endpoint import ModelSettings


@dataclass(frozen=True)
class Services:
    """Opened once when the app is made."""

    db: Database
    store: RecordingStore
    who: str
    uploads: UploadService | None
    jobs: Jobs
    tries: SignInAttemptLimits
    second_factors: SecondFactors
    openid: OpenIDSettings | None
    webhooks: Webhooks
    model: "ModelSettings | None"
    rooms: LiveRooms


def services() -> Services:
    """Those of the current app."""
    return current_app.extensions["demotape"]
