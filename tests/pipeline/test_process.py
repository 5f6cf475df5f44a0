"""Many recordings: skipped when nothing changed, one bad one stops no other, the same bytes whoever does the work."""

import hashlib
import json
import shutil
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline import batch, cluster, process, processing, refresh
from pipeline.cache import inputs
from recorder import Recording
from schemas import InputError
from tests.support.samples.recording_fixtures import write_recording


def demotape(*arguments) -> tuple[int, str]:
    """Exit code and all output of a command."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    return result.exit_code, result.output + result.stderr


@pytest.fixture
def recordings(tmp_path) -> list[Path]:
    """Three small recordings."""
    return [write_recording(tmp_path / name).layout.root for name in ("one", "two", "three")]


def written(recordings: list[Path]) -> str:
    """One hash of all that processing wrote."""
    digest = hashlib.sha256()
    for path in recordings:
        digest.update((path / "demonstration.json").read_bytes() + (path / "processed.json").read_bytes())
    return digest.hexdigest()


def test_what_has_not_changed_is_skipped(recordings):
    code, output = demotape("process", *recordings)
    assert code == 0 and output.count("turns (") == 3
    stamps = [(path / "demonstration.json").stat().st_mtime_ns for path in recordings]
    code, output = demotape("process", *recordings)
    assert code == 0 and output.count(": unchanged") == 3
    assert stamps == [(path / "demonstration.json").stat().st_mtime_ns for path in recordings]


@pytest.mark.parametrize("change", ["event", "chat typed", "chat log", "speaker", "result", "result gone", "note"])
def test_whatever_changes_is_noticed(recordings, change):
    path, chat = recordings[0], recordings[0].parent / "chat.csv"
    chat.write_text("timestamp,speaker,utterance\n1.0,Ann,hello there\n2.0,Bob,good morning\n")
    arguments = {"chat": chat, "speakers": {"Ann": "instructor", "Bob": "navigator"}}
    process(path, **arguments)
    assert refresh(path, **arguments)[1] is False
    if change == "event":
        journal = path / "events.jsonl"
        journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    elif change == "chat typed":
        with (path / "chat.jsonl").open("a") as file:
            file.write('{"time":4.0,"speaker":"navigator","utterance":"Done"}\n')
    elif change == "chat log":
        chat.write_text(chat.read_text() + "3.0,Ann,one more thing\n")
    elif change == "speaker":
        arguments["speakers"] = {"Ann": "navigator", "Bob": "instructor"}
    elif change == "result":
        (path / "demonstration.json").write_text((path / "demonstration.json").read_text() + " ")
    elif change == "result gone":
        (path / "demonstration.json").unlink()
    else:
        (path / "processed.json").write_text("{}")
        arguments["without"] = ("video",)  # nobody knows any more whether there was one (test_given.py)
    assert refresh(path, **arguments)[1] is True
    assert refresh(path, **arguments)[1] is False


def test_the_inputs_are_read_once_before_the_work(recordings, monkeypatch):
    steps, fingerprint, derive = [], inputs.fingerprint, processing.derive
    monkeypatch.setattr(inputs, "fingerprint", lambda *given: (steps.append("inputs"), fingerprint(*given))[1])
    monkeypatch.setattr(processing, "derive", lambda context: (steps.append("work"), derive(context))[1])
    assert refresh(recordings[0])[1] is True
    assert steps == ["inputs", "work"]
    process(recordings[0])
    assert steps == ["inputs", "work"] * 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_one_is_named_and_stops_no_other(recordings, jobs):
    (recordings[1] / "events.jsonl").write_text('{"seq":1}\n')
    code, output = demotape("process", *recordings, "--jobs", jobs)
    assert code == 2
    assert "two/events.jsonl, line 1" in output and "1 of 3 failed" in output
    assert [path.name for path in recordings if (path / "demonstration.json").exists()] == ["one", "three"]


def test_a_failure_nobody_foresaw_stops_no_other(recordings, monkeypatch):
    real = batch.refresh

    def breaks(path, **options):
        if path.name == "two":
            raise ZeroDivisionError("division by zero")
        return real(path, **options)

    monkeypatch.setattr(batch, "refresh", breaks)
    code, output = demotape("process", *recordings)
    assert code == 1 and "ZeroDivisionError" in output and "Traceback" not in output
    assert (recordings[2] / "demonstration.json").exists()


def test_a_worker_that_dies_takes_only_its_own_job_along(recordings):
    jobs = batch.jobs_for(recordings, None, {}, None)
    jobs[1] = DyingJob(jobs[1].path)
    with batch.executor(2) as executor:
        outcomes = list(batch.run(jobs, executor))
    assert [outcome.state for outcome in outcomes] == ["done", "failed", "done"]
    assert "died" in outcomes[1].reason


class DyingJob(batch.Job):
    """Kills the process that looks at its chat."""

    @property
    def chat(self):
        import os

        os._exit(9)

    @chat.setter
    def chat(self, value):
        pass


def test_what_was_written_before_its_process_died_is_no_old_result(recordings):
    jobs = batch.jobs_for(recordings, None, {}, None)
    for state in ("done", "unchanged"):
        assert [outcome.state for outcome in batch.run(jobs, DiesBeforeItTells())] == [state] * 3


class DiesBeforeItTells(Executor):
    """Does each job and loses its result, as a pool does in which another job's process dies at that moment."""

    def submit(self, function, /, *arguments, **named) -> Future:
        function(*arguments, **named)
        future = Future()
        future.set_exception(BrokenExecutor())
        return future


def test_whoever_works_the_bytes_are_the_same(recordings):
    from distributed import LocalCluster

    hashes = set()
    for options in ([], ["--jobs", "2"], ["--scheduler"]):
        for path in recordings:
            shutil.rmtree(path / "derived", ignore_errors=True)
            for name in ("demonstration.json", "processed.json"):
                (path / name).unlink(missing_ok=True)
        if options == ["--scheduler"]:
            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
                code, output = demotape("process", *recordings, "--scheduler", cluster.scheduler_address)
        else:
            code, output = demotape("process", *recordings, *options)
        assert code == 0, output
        hashes.add(written(recordings))
    assert len(hashes) == 1


def test_a_scheduler_that_is_not_there(recordings, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 1)
    code, output = demotape("process", recordings[0], "--scheduler", "tcp://127.0.0.1:9")
    assert code == 2 and "tcp://127.0.0.1:9" in output and "no Dask scheduler" in output


def test_a_video_goes_with_one_recording(recordings):
    code, output = demotape("process", *recordings, "--video", "meeting.mp4")
    assert code == 2 and "--video requires a single recording" in output


def test_an_older_demonstration_still_loads(recordings):
    """Fields that came later are optional."""
    from schemas import DemonstrationSchema

    demonstration = process(recordings[0])
    for turn in demonstration["turns"]:
        for check in turn["checks"]:
            check.pop("fix", None)
    assert DemonstrationSchema().load(json.loads(json.dumps(demonstration)))
    with pytest.raises(InputError):
        Recording(recordings[0] / "nowhere")
