"""The job that asks a model for tasks, and proposes what it answers."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from curator_web.db.database import Database
from curator_web.db.models.job_models import Job
from curator_web.errors import ErrorText, InputError
from curator_web.tasks import proposing
from curator_web.tasks.proposing import ProposalRequest
from curator_web.users import Account

from .queue import Jobs, Step

if TYPE_CHECKING:
    from pipeline.judging.model_endpoint import ModelSettings

KIND = "proposals"
_REASONS = 5  # why entries were none; of others only their number is told


def begin(jobs: Jobs, model: "ModelSettings | None", account: Account, wished: ProposalRequest,
          messages: Sequence[dict[str, str]]
          ) -> int:
    """Have the messages sent; returns the job's id. Raises InputError where no model is set."""
    name = require_model(model).name
    arguments = {"wish": asdict(wished), "messages": list(messages), "model": name}
    return jobs.add(KIND, account.name, arguments, project=account.project)


def require_model(model: "ModelSettings | None") -> "ModelSettings":
    """The model that is set; raises InputError."""
    if model is None:
        raise InputError(ErrorText("no model is configured; the administrator of the server can set "
                                   "DEMOTAPE_MODEL_URL"))
    return model


def run(db: Database, model: "ModelSettings | None", job: Job, step: Step) -> dict[str, Any]:
    """The job. Raises ModelFailed, InputError for an answer that is none; then nothing is stored."""
    settings = require_model(model)
    if settings.name != job.arguments["model"]:
        raise InputError(ErrorText("the model was changed; send the request again"))
    from pipeline.judging.model_endpoint import complete

    step(0, None, "waiting for the model")
    answer = complete(settings, job.arguments["messages"])
    outcome = proposing.store(db, job.project, answer, ProposalRequest(**job.arguments["wish"]), settings.name)
    reasons = outcome.wrong.most_common(_REASONS)
    return {"proposed": outcome.proposed, "alike": outcome.alike, "wrong": outcome.wrong.total(),
            "reasons": [f"{count} × {reason}" for reason, count in reasons]}
