"""The HTTP API of an environment: goal, reset, score; described in OpenAPI at openapi.json.

It listens on loopback, where pages of any site in a browser of this machine can send requests, and a name whose address
changes can read the answers. So its addresses begin with a random token, and requests that a page sends, that name
another host or that are not JSON are refused.
"""

import asyncio
import secrets
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from flask import Flask, abort, request
from flask_smorest import Api, Blueprint
from marshmallow import Schema, fields
from werkzeug.serving import WSGIRequestHandler, make_server

from replay.agents.environment import Environment
from schemas import DemotapeError

_Answer = TypeVar("_Answer")
_SECONDS = 120.0  # that a reset or a score may take
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost")
_TOKEN_BYTES = 16


class GoalSchema(Schema):
    """What the agent is asked to do, and where."""

    goal = fields.String(required=True)
    start_url = fields.String(required=True)
    cdp = fields.String(required=True, metadata={"description": "`http:` address of the browser, for CDP"})
    cdp_websocket = fields.String(required=True, metadata={"description": "its `ws:` address"})
    said = fields.List(fields.Dict(), required=True, metadata={"description": "what the instructor said, in order"})


class ResetSchema(Schema):
    """How the run begins."""

    opened = fields.Boolean(load_default=True, metadata={
        "description": "at the start page; else the tab is empty, and whoever connects goes there"})


class RunSchema(Schema):
    """The run that has begun."""

    run = fields.String(required=True, metadata={"description": "name of its recording"})


class AnswerSchema(Schema):
    """What the run is scored by."""

    answer = fields.String(load_default="", metadata={"description": "what it answers in the end; may be empty"})
    ended = fields.Boolean(load_default=True, metadata={
        "description": "the run ends; else it goes on, and what it has come to is scored"})


class CheckedSchema(Schema):
    """What came of one outcome check."""

    kind = fields.String(required=True, attribute="check.kind")
    holds = fields.Boolean(required=True, allow_none=True, metadata={"description": "null: it was not decided"})
    reason = fields.String(required=True)


class MissingRequestSchema(Schema):
    """A request that was not recorded, or for a file of this machine."""

    method = fields.String(required=True)
    url = fields.String(required=True)
    count = fields.Integer(required=True)


class ScoreSchema(Schema):
    """What came of the run."""

    score = fields.Float(required=True, allow_none=True, attribute="value", metadata={
        "description": "1: all outcome checks hold; 0: one does not; null: that is not decided"})
    reached = fields.Float(required=True, allow_none=True, metadata={"description": "share of checkpoints"})
    checks = fields.List(fields.Nested(CheckedSchema), required=True)
    diverged = fields.Boolean(required=True, metadata={
        "description": "the run took another way than the recorded person, and requested what was not recorded"})
    missing = fields.List(fields.Nested(MissingRequestSchema), required=True, metadata={
        "description": "the requests that were not recorded, the first one first"})


def app_of(environment: Environment, loop: asyncio.AbstractEventLoop, token: str) -> Flask:
    """The API over an environment that lives in an event loop of another thread; its paths begin with `token`."""
    app = Flask("demotape-environment", static_folder=None)
    app.config |= {"API_TITLE": "demotape environment", "API_VERSION": "1", "OPENAPI_VERSION": "3.0.3",
                   "OPENAPI_URL_PREFIX": f"/{token}", "OPENAPI_JSON_PATH": "openapi.json"}
    app.before_request(_refuse_pages)
    blueprint = Blueprint("environment", __name__, url_prefix=f"/{token}", description="A recorded task for agents")
    one_at_a_time = threading.Lock()  # a run is begun, or ended

    def run_in_loop(work: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Run a coroutine in the environment's event loop, and wait for its result."""
        with one_at_a_time:
            future: Future[_Answer] = asyncio.run_coroutine_threadsafe(work(), loop)
            return future.result(_SECONDS)

    @blueprint.get("/goal")
    @blueprint.response(200, GoalSchema)
    def goal() -> Environment:
        """What is to be done"""
        return environment

    @blueprint.post("/reset")
    @blueprint.arguments(ResetSchema)
    @blueprint.response(200, RunSchema)
    def reset(body: dict[str, Any]) -> dict[str, str]:
        """Begin a run at the start; one that is going on ends"""
        return {"run": run_in_loop(lambda: environment.reset(**body)).name}

    @blueprint.post("/score")
    @blueprint.arguments(AnswerSchema)
    @blueprint.response(200, ScoreSchema)
    @blueprint.alt_response(409, description="No run, or no outcome checks.")
    def score(body: dict[str, Any]) -> Any:
        """Score the run, and end it"""
        result = run_in_loop(lambda: environment.score(**body))
        missing = [{"method": method, "url": url, "count": count}
                   for (method, url), count in environment.missing.items()]
        return {"value": result.value, "reached": result.reached, "checks": result.checks, "missing": missing,
                "diverged": environment.diverged}

    @app.errorhandler(DemotapeError)
    def refused(error: DemotapeError) -> tuple[dict[str, Any], int]:
        return {"code": 409, "message": str(error)}, 409

    Api(app).register_blueprint(blueprint)
    return app


def _refuse_pages() -> None:
    """Admit programs of this machine only: a page's request says from which site it comes, or which host it is for."""
    host, _, port = request.host.rpartition(":")
    if host not in _LOOPBACK_HOSTS or port != request.environ["SERVER_PORT"]:
        abort(421, "this host is not served here; use the printed address")
    if "Origin" in request.headers or request.headers.get("Sec-Fetch-Site", "none") != "none":
        abort(403, "pages may not use this API")
    if request.method == "POST" and request.mimetype != "application/json":
        abort(415, "the body must be JSON, with Content-Type: application/json")


class _Quiet(WSGIRequestHandler):
    """Does not tell each request among the results."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None: ...


class Served:
    """The API of an environment served on a port of this machine, in a thread; use it with `with`.

    `address`: with the token, which whoever may use it has to know. Raises OSError when the port is in use.
    """

    def __init__(self, environment: Environment, loop: asyncio.AbstractEventLoop, port: int):
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._server = make_server("127.0.0.1", port, app_of(environment, loop, token), threaded=True,
                                   request_handler=_Quiet)
        self.address = f"http://127.0.0.1:{self._server.server_port}/{token}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "Served":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
