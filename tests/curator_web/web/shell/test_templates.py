"""The templates use only filters and tests that the app has: a missing one fails when its line is shown, not before."""

import pytest
from jinja2 import nodes

from curator_web import create_app


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    app = create_app(None, tmp_path_factory.mktemp("templates") / "data")
    yield app.jinja_env
    app.extensions["demotape"].db.close()


def test_every_filter_and_test_is_known(environment):
    unknown = []
    for name in environment.list_templates(extensions=["html"]):
        tree = environment.parse(environment.loader.get_source(environment, name)[0])
        unknown += [f"{name}:{node.lineno}: {node.name}" for kind, known in (
            (nodes.Filter, environment.filters), (nodes.Test, environment.tests))
            for node in tree.find_all(kind) if node.name not in known]
    assert unknown == []
