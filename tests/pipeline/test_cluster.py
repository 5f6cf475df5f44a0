"""A Dask cluster makes the same bytes, and what goes wrong with it is one clear error: nothing is half-written."""

import hashlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster

from pipeline import batch, cluster
from pipeline.export import FORMATS, LeftOut, Source, export
from pipeline.export.exporting import Format
from pipeline.export.formats import weblinx
from schemas import DemotapeError, InputError
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> list[Source]:
    root = tmp_path_factory.mktemp("cluster")
    recordings = [write_recording(root / f"rec-{name}") for name in "abcdefgh"]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


@pytest.fixture
def workers() -> Iterator[LocalCluster]:
    """Two of them; what kills two is not tried on a third. One may die before it has told what it did just before:
    that is tried again."""
    with (dask.config.set({"distributed.scheduler.allowed-failures": 1}),
          LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started):
        yield started


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def breaks(source, options, tally):
    yield from weblinx.samples(source, options, tally)
    if source.id == "rec-d":
        raise InputError("its page is damaged")


def dies(source, options, tally):
    if source.id == "rec-d":
        os.kill(os.getpid(), signal.SIGKILL)
    yield from weblinx.samples(source, options, tally)


def waits(source, options, tally):
    if source.id == "rec-d":
        time.sleep(60)
    yield from weblinx.samples(source, options, tally)


def test_exports(sources, tmp_path, workers, monkeypatch):
    address = workers.scheduler_address
    for format in ("weblinx", "mind2web", "webdataset", "parquet"):
        export(sources, tmp_path / format, format)
        export(sources, tmp_path / f"{format}-by-workers", format, scheduler=address)
        assert content(tmp_path / format) == content(tmp_path / f"{format}-by-workers")

    damaged: list[LeftOut] = []
    monkeypatch.setitem(FORMATS, "breaking", Format(breaks, weblinx.Writer))
    summary = export(sources, tmp_path / "breaking", "breaking", scheduler=address, damaged=damaged)
    assert damaged == [LeftOut("rec-d", "its page is damaged")] and summary.demonstrations == 7

    monkeypatch.setitem(FORMATS, "dying", Format(dies, weblinx.Writer))
    with pytest.raises(DemotapeError, match="'rec-d': its process crashed"):
        export(sources, tmp_path / "dying", "dying", scheduler=address)
    assert not (tmp_path / "dying").exists()


def test_a_scheduler_that_goes_away(sources, tmp_path, workers, monkeypatch):
    monkeypatch.setitem(FORMATS, "waiting", Format(waits, weblinx.Writer))

    def written(name: str) -> None:
        if name == "rec-c":
            workers.close()

    with pytest.raises(DemotapeError, match="'rec-d': the connection to the cluster's scheduler was lost"):
        export(sources, tmp_path / "out", "waiting", written, scheduler=workers.scheduler_address)
    assert not (tmp_path / "out").exists()


def test_a_scheduler_without_workers_is_told(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 1)
    with (LocalCluster(n_workers=0, dashboard_address=None) as empty,
          pytest.raises(InputError, match=f"{empty.scheduler_address}: the scheduler has no worker")):
        export(sources, tmp_path / "out", "weblinx", scheduler=empty.scheduler_address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1", "127.0.0.1", "here", "", "tcp://:", "http://127.0.0.1:8786"])
def test_an_address_that_is_none_is_told(address):
    with pytest.raises(InputError, match="--scheduler"), cluster.connect(address):
        pass


def test_workers_without_this_demotape_are_told(workers, monkeypatch):
    monkeypatch.setattr(cluster, "version", lambda name: "99")
    with pytest.raises(InputError, match=r"tcp://\S+ has demotape \d\S*; install demotape 99 there"), \
            cluster.connect(workers.scheduler_address):
        pass
    monkeypatch.setattr(cluster, "_THEIRS", "__import__('no_such_module')")
    with pytest.raises(InputError, match="has no working demotape"), cluster.connect(workers.scheduler_address):
        pass


def test_a_worker_that_hangs_is_told(workers, monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_TIMEOUT", 2)
    hanging = workers.workers[0].pid
    os.kill(hanging, signal.SIGSTOP)
    try:
        with pytest.raises(InputError, match=f"{workers.scheduler_address}: a worker does not respond"), \
                cluster.connect(workers.scheduler_address):
            pass
    finally:
        os.kill(hanging, signal.SIGCONT)


def test_a_recording_that_the_workers_give_up_fails_and_the_others_go_on(sources, workers):
    paths = [source.recording.layout.root for source in sources[:3]]
    jobs = [Dying(path) if path.name == "rec-b" else job
            for path, job in zip(paths, batch.jobs_for(paths, None, {}, None), strict=True)]
    with batch.executor(1, workers.scheduler_address) as executor:
        outcomes = list(batch.run(jobs, executor))
    assert [outcome.state == "failed" for outcome in outcomes] == [False, True, False]
    assert "its process crashed" in outcomes[1].reason and "rec-b" in outcomes[1].reason


class Dying(batch.Job):
    """Ends the process that works on it."""

    @property
    def chat(self):
        os.kill(os.getpid(), signal.SIGKILL)

    @chat.setter
    def chat(self, value):
        pass
