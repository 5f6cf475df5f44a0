"""The HTTP API of an environment: goal, reset, score; described in OpenAPI at /openapi.json."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from flask import Flask
from flask_smorest import Api, Blueprint
from marshmallow import Schema, fields
from werkzeug.serving import WSGIRequestHandler, make_server

from replay.agents.environment import Environment
from schemas import DemotapeError

_Answer = TypeVar("_Answer")
_SECONDS = 120.0  # that a reset or a score may take


class GoalSchema(Schema):
    """What the agent is asked to do, and where."""

    goal = fields.String(required=True)
    start_url = fields.String(required=True)
    cdp = fields.String(required=True, metadata={"description": "address of the browser, for CDP"})
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


class ScoreSchema(Schema):
    """What came of the run."""

    score = fields.Float(required=True, allow_none=True, attribute="value", metadata={
        "description": "1: all outcome checks hold; 0: one does not; null: that is not decided"})
    reached = fields.Float(required=True, allow_none=True, metadata={"description": "share of checkpoints"})
    checks = fields.List(fields.Nested(CheckedSchema), required=True)


def app_of(environment: Environment, loop: asyncio.AbstractEventLoop) -> Flask:
    """The API over an environment that lives in an event loop of another thread."""
    app = Flask("demotape-environment")
    app.config |= {"API_TITLE": "demotape environment", "API_VERSION": "1", "OPENAPI_VERSION": "3.0.3",
                   "OPENAPI_URL_PREFIX": "/", "OPENAPI_JSON_PATH": "openapi.json"}
    blueprint = Blueprint("environment", __name__, description="A recorded task for agents")
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
        return run_in_loop(lambda: environment.score(**body))

    @app.errorhandler(DemotapeError)
    def refused(error: DemotapeError) -> tuple[dict[str, Any], int]:
        return {"code": 409, "message": str(error)}, 409

    Api(app).register_blueprint(blueprint)
    return app


class _Quiet(WSGIRequestHandler):
    """Does not tell each request among the results."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None: ...


class Served:
    """The API served on a port of this machine, in a thread; use it with `with`. `port`: its own once it runs."""

    def __init__(self, app: Flask, port: int):
        self._server = make_server("127.0.0.1", port, app, threaded=True, request_handler=_Quiet)
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "Served":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
