"""The JSON API of proofs: results of replays, and starting a replay."""

from flask.views import MethodView
from marshmallow import fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.work.jobs import JobSchema
from curator_web.demonstrations.library import library, replay_proofs
from curator_web.errors import NotFound
from curator_web.jobs import replays
from schemas.formats.parts import Strict
from schemas.formats.proof import ProofSchema

from .demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED, NOT_FOUND

blueprint = Blueprint("proofs_api", __name__, url_prefix="/api", description="Replaying demonstrations")
NONE_RUN = {"description": "This server does not replay demonstrations."}


class ToRunSchema(Strict):
    """Which demonstrations to run again."""

    ids = fields.List(fields.String(), required=True, validate=validate.Length(1, replays.MAX_DEMONSTRATIONS))


@blueprint.route("/demonstrations/<demonstration_id>/proof")
class OneProof(MethodView):
    """What came of running a demonstration again."""

    @blueprint.response(200, ProofSchema)
    @blueprint.alt_response(404, description="Unknown demonstration, or it was not replayed.")
    def get(self, demonstration_id: str):
        """The proof of the last run; of an earlier version where `proof` of the demonstration is `changed`"""
        library.listed(services().db, demonstration_id)
        stored = replay_proofs.stored_proof(services().db, demonstration_id)
        if stored is None:
            raise NotFound("this demonstration was not replayed")
        return stored.content | {"made_at": stored.made_at}

    @blueprint.response(202, JobSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(409, **NONE_RUN)
    def post(self, demonstration_id: str):
        """Run it again, as it is now; its job tells how far that is"""
        return replays.begin(services().db, services().store, services().jobs, [demonstration_id], account())


@blueprint.post("/runs")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(ToRunSchema)
@blueprint.response(202, JobSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.alt_response(409, **NONE_RUN)
def run(body: dict[str, list[str]]):
    """Run several again, one after the other; only for leads"""
    caller = lead()
    return replays.begin(services().db, services().store, services().jobs, body["ids"], caller)
