"""A review app with people in it, on each database."""

import pytest

from curator_web import create_app
from demotape.importing import import_package
from tests.support.curator.team_fixtures import add_people


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data", import_package=import_package)
    app.extensions["tokens"] = add_people(app)
    yield app
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db
