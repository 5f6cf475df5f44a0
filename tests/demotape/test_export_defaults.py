"""What `demotape export` selects without options, counts of what it leaves out, and the options that widen it."""

import json

import pytest
from click.testing import CliRunner

from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.library.library import listed
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.jobs import export_presets
from curator_web.users import Account, add_user
from demotape.cli import main
from demotape.commands.app_data import open_app
from tests.support.curator.curator_fixtures import typed_recording

LOCAL = Account("local", "lead", alone=True)
REACHED = {"kind": "url", "match": {"exact": ["https://air.example/book?step=4"]}}
NOT_REACHED = {"kind": "url", "match": {"exact": ["https://air.example/elsewhere"]}}
# Recordings by id: their provenance, None if they contain none, and the outcome checks beside them.
RECORDINGS = {
    "rec-person": ({"actor": "person"}, None), "rec-silent": (None, REACHED),
    "rec-success": ({"actor": "agent"}, REACHED),
    "rec-failure": ({"actor": "agent"}, NOT_REACHED),
    "rec-named": ({"agent": "walker 1.0"}, None),
    "rec-replay": ({"actor": "script", "agent": "demotape replay"}, None)}


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path):
    """The data folder of an app without accounts: people's recordings, an agent's runs, a replay."""
    for recording_id, (provenance, check) in RECORDINGS.items():
        path = typed_recording(tmp_path / "made", recording_id=recording_id)
        if provenance:
            manifest = json.loads((path / "recording.json").read_bytes())
            (path / "recording.json").write_text(json.dumps(manifest | {"provenance": provenance}))
        if check:
            content = {"format": "demotape/outcome", "version": 1, "checks": [check]}
            (path / "outcome.json").write_text(json.dumps(content))
        done = run("import", "--create", path, "--data", tmp_path / "data")
        assert done.exit_code == 0, done.output
    return tmp_path / "data"


@pytest.fixture
def export(tmp_path, data):
    """Export with options; returns the result of the command and the names of the exported recordings."""
    number = 0

    def export(*options):
        nonlocal number
        number += 1
        out = tmp_path / f"out-{number}"
        done = run("export", out, "--format", "chat", "--data", data, *options)
        manifest = json.loads((out / "manifest.json").read_bytes()) if out.exists() else None
        names = {each["id"].removeprefix("rec-") for each in manifest["demonstrations"]} if manifest else set()
        return done, names, manifest
    return export


def with_status(data, recording_id, status):
    database, _ = open_app(None, data)
    change_status(database, recording_id, status, listed(database, recording_id).version, LOCAL, reason="wrong")
    database.close()


def test_without_accounts_people_s_demonstrations_are_exported_except_invalid_ones(data, export):
    with_status(data, "rec-person", "invalid")
    done, names, manifest = export()
    assert done.exit_code == 0 and names == {"silent"}, done.output
    lines = [line.strip() for line in done.output.splitlines()]
    assert "0 of 1 reviewed" in lines
    assert "status: draft 1; excluded: draft 4, invalid 1" in lines
    assert "actor: unknown 1; excluded: agent 3, person 1, script 1" in lines
    assert "outcome: success 1; excluded: failure 1, success 1, undecided 3" in lines
    assert manifest["selection"] == {"actors": ["person", "unknown"]}
    assert manifest["demonstration_counts"]["actor"] == {
        "agent": {"exported": 0, "left_out": 3}, "person": {"exported": 0, "left_out": 1},
        "script": {"exported": 0, "left_out": 1}, "unknown": {"exported": 1, "left_out": 0}}
    assert manifest["not_selected"]["demonstration: its actor is agent"] == 3


@pytest.mark.parametrize(("options", "expected"), [
    ([], {"person", "silent"}), (["--actor", "any"], {*(name.removeprefix("rec-") for name in RECORDINGS)}),
    (["--actor", "person"], {"person"}), (["--actor", "agent"], {"success", "failure", "named"}),
    (["--actor", "script", "--actor", "unknown"], {"replay", "silent"}),
    (["--actor", "agent", "--outcome", "success"], {"success"}),
    (["--actor", "any", "--outcome", "failure"], {"failure"}),
    (["--actor", "agent", "--outcome", "undecided"], {"named"}), (["--outcome", "any"], {"person", "silent"})])
def test_options_choose_actors_and_outcomes(export, options, expected):
    done, names, _ = export(*options)
    assert done.exit_code == 0 and names == expected, done.output


def test_with_accounts_only_approved_ones_are_exported(data, export):
    database, _ = open_app(None, data)
    add_user(database, "lea", "lead")
    database.close()
    done, names, _ = export()
    assert (done.exit_code, names) == (2, set())
    assert "6 demonstrations, 0 approved, 2 by person or unknown; use --status any" in " ".join(done.output.split())
    with_status(data, "rec-person", "approved")
    done, names, manifest = export()
    assert names == {"person"} and "1 of 1 reviewed" in done.output, done.output
    assert manifest["selection"] == {"actors": ["person", "unknown"], "status": "approved"}
    assert export("--status", "any")[1] == {"person", "silent"}
    assert export("--status", "draft")[1] == {"silent"}
    assert "use --status any" in export("--actor", "agent")[0].output


def test_an_error_names_the_option_that_widens_the_selection(export):
    done, _, _ = export("--outcome", "failure")
    text = " ".join(done.output.split())
    assert done.exit_code == 2 and "6 demonstrations, 2 by person or unknown, 1 with the outcome failure" in text
    assert "use --actor any" in text
    done, _, _ = export("--status", "approved", "--actor", "script")
    assert "0 approved, 1 by script; use --status any" in " ".join(done.output.split())
    done, _, _ = export("--status", "approved", "--outcome", "failure")
    assert "use --status any --actor any --outcome any" in " ".join(done.output.split())
    done, _, _ = export("--since", "2100-01-01")
    assert "2 × demonstration: recorded on another day" in " ".join(done.output.split())
    done, _, _ = export("--status", "perfect")
    assert done.exit_code == 2 and "unknown status 'perfect'; choose from draft" in done.output
    assert export("--actor", "cat")[0].exit_code == 2


def test_a_preset_of_an_earlier_version_means_what_it_meant(data, export):
    database, _ = open_app(None, data)
    earlier = {"format": "chat", "status": None, "actors": []}
    export_presets.save(database, LOCAL, "Earlier", earlier)
    export_presets.save(database, LOCAL, "People", earlier | {"actors": ["person"]})
    export_presets.save(database, LOCAL, "New", {"format": "chat"})
    add_user(database, "lea", "lead")
    database.close()
    assert len(export("--preset", "Earlier")[1]) == len(RECORDINGS)
    assert export("--preset", "People")[1] == {"person"}
    assert export("--preset", "New")[0].exit_code == 2
    assert export("--preset", "Earlier", "--actor", "script")[1] == {"replay"}
    assert export("--preset", "Earlier", "--status", "approved")[0].exit_code == 2


def test_actors_of_an_older_database_are_read_before_the_first_export(data, export):
    database, _ = open_app(None, data)
    with database.writing() as session:
        session.query(Demonstration).update({"actor": None})
    database.close()
    assert export()[1] == {"person", "silent"}
    database, _ = open_app(None, data)
    with database.reading() as session:
        actors = dict(session.query(Demonstration.id, Demonstration.actor).all())
    database.close()
    assert actors == {"rec-person": "person", "rec-silent": "unknown", "rec-success": "agent", "rec-failure": "agent",
                      "rec-named": "agent", "rec-replay": "script"}
