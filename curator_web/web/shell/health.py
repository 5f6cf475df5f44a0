"""For whatever watches over the server: whether the process answers, and whether what it needs does."""

from collections.abc import Callable

from flask import Blueprint, jsonify, make_response
from sqlalchemy import text
from werkzeug import Response

from curator_web.access.services import Services, services
from curator_web.errors import DiskFull, ServiceUnavailable
from curator_web.storage.disk_space import require_room

blueprint = Blueprint("health", __name__)
OK, AWAY, FULL = ("ok", "away", "full")


@blueprint.get("/healthz")
def alive() -> Response:
    """That this process answers; nothing else is asked."""
    return make_response("ok\n", {"Content-Type": "text/plain; charset=utf-8"})


@blueprint.get("/readyz")
def ready() -> Response:
    """Whether the database, the storage and the disk do what is needed; with status 503 where one does not."""
    states = parts(services())
    is_ready = all(state == OK for state in states.values())
    return make_response(jsonify({"ready": is_ready, "parts": states}), 200 if is_ready else 503)


def parts(services_: Services) -> dict[str, str]:
    """What the app needs, each with OK, AWAY or FULL; asks it."""
    return {"database": _state(lambda: _check_database(services_)),
            "storage": _state(services_.store.require_reachable),
            "disk": _state(lambda: require_room(services_.store.data_dir, 0))}


def _check_database(services_: Services) -> None:
    with services_.db.reading() as session:
        session.execute(text("SELECT 1"))


def _state(check: Callable[[], object]) -> str:
    try:
        check()
    except DiskFull:
        return FULL
    except (ServiceUnavailable, OSError):
        return AWAY
    return OK
