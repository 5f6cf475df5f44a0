"""Many recordings: skipped when nothing changed, one bad one stops no other, the same bytes whoever does the work."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline import batch, cluster, isolation, process, processing, refresh
from pipeline.cache import inputs
from pipeline.sandbox import Allowance
from recorder import Recording
from schemas import InputError
from tests.support import hostile_work
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import write_recording
from tests.support.waiting import wait_until


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


@pytest.mark.parametrize("kind, reason", [
    ("failing", "ZeroDivisionError"), ("dying", "its process crashed"), ("swelling", "requires more than"),
    ("spinning", "of processor time")])
def test_whatever_a_job_does_only_it_fails(recordings, kind, reason, monkeypatch):
    monkeypatch.setattr(batch, "allowance_for", lambda *files: Allowance(5, 300 << 20, 20))
    jobs = batch.jobs_for(recordings, None, {}, None)
    jobs[1] = HostileJob(jobs[1].path, placement=kind)
    with batch.executor(2) as executor:
        outcomes = list(batch.run(jobs, executor))
    assert [outcome.state for outcome in outcomes] == ["done", "failed", "done"]
    assert reason in outcomes[1].reason and "Traceback" not in outcomes[1].reason
    assert (recordings[2] / "demonstration.json").exists()


class HostileJob(batch.Job):
    """Does what hostile input could do to the process that reads its chat; `placement` names it."""

    @property
    def chat(self):
        {"failing": lambda: 1 // 0, "dying": hostile_work.crash, "swelling": hostile_work.swell,
         "spinning": hostile_work.spin}[self.placement]()

    @chat.setter
    def chat(self, value):
        pass


def test_work_ends_with_the_command(recordings):
    """Nobody waits for it any more, and the next command may write the same files."""
    script = ("import sys, pathlib\n"
              "from pipeline import isolation\nfrom tests.support import hostile_work\n"
              "print(isolation.run_isolated(isolation.TRIAL, 'x', hostile_work.pid), flush=True)\n"
              "isolation.run_isolated(isolation.TRIAL, 'x', hostile_work.spin)\n")
    command = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    worker = psutil.Process(int(command.stdout.readline()))
    begun = worker.cpu_times().user
    wait_until(lambda: worker.cpu_times().user > begun + 0.05, what="the work to begin")
    command.kill()
    command.wait()
    wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE, what="the work to end")


def test_ctrl_c_ends_the_work(recordings):
    with pytest.raises(KeyboardInterrupt), isolation.isolating_threads(1) as threads:
        worker = psutil.Process(threads.submit(isolation.run_isolated, isolation.TRIAL, "x", hostile_work.pid).result())
        spinning = threads.submit(isolation.run_isolated, isolation.TRIAL, "x", hostile_work.spin)
        wait_until(lambda: spinning.running(), what="the work to begin")
        raise KeyboardInterrupt
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE


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
