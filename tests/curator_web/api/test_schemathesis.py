"""The whole API, asked by schemathesis in every way that its description allows and many that it does not: no 500.

What is asked is made once, as that takes longer than to answer it, and asked of an app on each database.
"""

import contextlib
from unittest import SkipTest

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from demotape.importing import import_package
from tests.support.curator.curator_fixtures import hostile_turns, make_recording
from tests.support.curator.team_fixtures import add_people

pytestmark = pytest.mark.slow


@pytest.fixture
def served(postgresql, tmp_path_factory):
    """For each database an app with people and demonstrations, and a lead's token."""
    served = [serve(None, tmp_path_factory.mktemp("sqlite")),
              serve(postgresql.new(), tmp_path_factory.mktemp("postgresql"))]
    yield served
    for app, _ in served:
        app.extensions["demotape"].jobs.close()


def serve(url: str | None, folder) -> tuple[Flask, str]:
    app = create_app(url, folder / "data", import_package=import_package)
    services = app.extensions["demotape"]
    token = add_people(app)["lea"]
    import_recording(services.db, services.store, make_recording(folder))
    import_recording(services.db, services.store,
                     make_recording(folder, recording_id="hostile", make_turns=hostile_turns))
    return app, token


def test_nothing_makes_the_api_fail(served):
    described = schemathesis.openapi.from_wsgi("/api/openapi.json", served[0][0])
    asked = 0
    for found in described.get_all_operations():
        for mode in GenerationMode:
            asked += attack(found.ok(), mode, served)
    assert asked > 1000


def attack(operation, mode: GenerationMode, served) -> int:
    """Ask one operation in many ways, with what fits its description or with what does not; returns how often."""
    count = 0

    @settings(max_examples=10, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        nonlocal count
        count += 1
        # Where a demonstration is named, ask about one that is there as often as not.
        if "demonstration_id" in (case.path_parameters or {}) and count % 2:
            case.path_parameters["demonstration_id"] = ("rec-1", "hostile")[count % 4 // 2]
        for app, token in served:
            answer = case.call(app=app, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code < 500, (operation.label, case.body, case.path_parameters, case.query)
    with contextlib.suppress(Unsatisfiable, SkipTest):  # nothing that does not fit can be said there
        ask()
    return count
