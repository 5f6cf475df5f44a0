"""Processing of many recordings with one executor: processes with limits on this machine or on a Dask cluster."""

import errno
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from schemas import DemonstrationSchema, DemotapeError, InputError, RecordingLayout, limits
from schemas.addresses import is_empty_page
from schemas.files import is_disk_full, read_json, reason
from schemas.types.alignment import VideoPlacement
from schemas.types.recordings import Demonstration

from . import plugins, workers
from .isolation import allowance_for, isolating_threads, run_isolated
from .processing import refresh
from .sandbox import Allowance

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True)
class Job:
    """One recording to be processed, and what goes with it."""

    path: Path
    chat: Path | None = None
    speakers: dict[str, str] = field(default_factory=dict)
    video: Path | None = None
    speech: Path | None = None
    recogniser: str | None = None
    model: str | None = None
    without: tuple[str, ...] = ()
    placement: VideoPlacement | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a job. `unchanged`: its demonstration was made from the same inputs before, and stays. `chat`: how
    many chat turns it has, and had before, if it was processed before."""

    path: Path
    state: Literal["done", "unchanged", "failed"]
    reason: str = ""
    exit_code: int = 0
    intents: dict[str, int] = field(default_factory=dict)
    screenshots: int = 0
    good_screenshots: int = 0
    checks: int = 0
    unexplained_changes: int = 0
    chat: tuple[int, int | None] = (0, None)
    has_lost_lines: bool = False  # of its journal, which cannot be read
    complaints: tuple[str, ...] = ()  # about plug-ins, from whatever process did the work


def run(jobs: Sequence[Job], executor: Executor) -> Iterator[Outcome]:
    """Outcomes in the order of the jobs, each as soon as it and those before it are there. Never raises for a job: one
    whose process dies or takes more than it may is said to have failed; so is one that its cluster lost."""
    futures = [executor.submit(work_isolated, job) for job in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            try:
                yield future.result()
            except workers.WorkLost as error:
                yield Outcome(job.path, "failed", f"{job.path}: {error}", error.exit_code)
            except DemotapeError as error:
                yield Outcome(job.path, "failed", str(error), error.exit_code)
    finally:
        for future in futures:
            future.cancel()


def work_isolated(job: Job) -> Outcome:
    """Process one recording in a process with limits: what was recorded is parsed there. Raises LimitExceeded."""
    return run_isolated(_allowance(job), str(job.path), work, job)


def _allowance(job: Job) -> Allowance:
    """What a job may take, by the size of what it reads; a recogniser has a model."""
    allowance = allowance_for(job.path, job.video)
    if job.recogniser:
        return replace(allowance, processor=allowance.processor * limits.MODEL_FACTOR, memory=limits.MODEL_MEMORY)
    return allowance


def work(job: Job) -> Outcome:
    """Process one recording in whatever process this is; a failure is an outcome, not an exception."""
    with plugins.listening() as heard:
        outcome = _work(job)
    return replace(outcome, complaints=tuple(dict.fromkeys(heard)))


def _work(job: Job) -> Outcome:
    workers.retain_freed_memory()
    try:
        before = _count_chat_turns(job.path)
        demonstration, changed = refresh(job.path, chat=job.chat, speakers=job.speakers, video=job.video,
                                         speech=job.speech, recogniser=job.recogniser, model=job.model,
                                         placement=job.placement, without=job.without)
    except DemotapeError as error:
        return Outcome(job.path, "failed", str(error), error.exit_code)
    except OSError as error:
        return Outcome(job.path, "failed", _unusable(job.path, error), DemotapeError.exit_code)
    except MemoryError:  # the limit, which the process itself reports
        raise
    except Exception as error:  # whatever one broken recording does, the others go on
        return Outcome(job.path, "failed", f"{job.path}: {type(error).__name__}: {error}", DemotapeError.exit_code)
    turns = demonstration["turns"]
    states = [turn["state"] for turn in turns if turn["type"] == "browser"
              and not (turn["state"] and is_empty_page(turn["state"]["url"]))]
    intents = Counter(turn["intent"] if turn["type"] == "browser" else "say" for turn in turns)
    return Outcome(job.path, "done" if changed else "unchanged", intents=dict(intents), screenshots=len(states),
                   good_screenshots=sum(bool(state and state["screenshot_status"] == "good") for state in states),
                   checks=sum(len(turn["checks"]) for turn in turns),
                   unexplained_changes=demonstration.get("unexplained_changes", 0), chat=(intents["say"], before),
                   has_lost_lines=any(check["kind"] == "lost-lines" for turn in turns for check in turn["checks"]))


def _unusable(path: Path, error: OSError) -> str:
    """What the system refused, without the name of a temporary file."""
    if is_disk_full(error) or error.errno in _NOT_WRITABLE:
        return f"{path}: cannot be written ({reason(error)}); fix this, then process it again"
    return f"{path}: cannot be processed ({reason(error)})"


def _count_chat_turns(path: Path) -> int | None:
    """The number of chat turns in a recording's demonstration; None without a demonstration that can be read."""
    try:
        demonstration = read_json(RecordingLayout(path).demonstration, DemonstrationSchema())
    except DemotapeError:
        return None
    return sum(turn["type"] == "chat" for turn in demonstration["turns"])


def refreshed(path: Path) -> Demonstration:
    """The demonstration of a recording, processed where it was not or its inputs changed, in a process with limits.
    Raises InputError as `refresh` does."""
    return run_isolated(allowance_for(path), str(path), refresh, path)[0]


@contextmanager
def executor(jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor]:
    """Threads that wait for so many processes with limits, or a Dask cluster by its scheduler's address.

    Raises what `cluster.connect` does.
    """
    if scheduler:
        with _cluster_executor(scheduler) as chosen:
            yield chosen
        return
    with isolating_threads(jobs) as threads:
        yield threads


@contextmanager
def unlimited_executor(jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor]:
    """For programs of the user's own: this process for one job at a time, a pool of processes for several, or a Dask
    cluster. Raises what `cluster.connect` does."""
    if scheduler:
        with _cluster_executor(scheduler) as cluster_executor:
            yield cluster_executor
        return
    # A fresh interpreter for each: forking a process with threads, as decoders and OpenCV have, may hang.
    chosen = _Here() if jobs == 1 else ProcessPoolExecutor(jobs, mp_context=get_context("spawn"),
                                                           initializer=workers.begin)
    try:
        yield chosen
    finally:
        chosen.shutdown(cancel_futures=True)


@contextmanager
def _cluster_executor(scheduler: str) -> Iterator[Executor]:
    from . import cluster

    with cluster.connect(scheduler) as client:
        yield _OnCluster(partial(cluster.submit, client))


class _Here(Executor):
    """Works in this process, when the result is asked for."""

    def submit(self, function, /, *arguments, **named) -> Future:
        return _Lazy(lambda: function(*arguments, **named))


class _OnCluster(Executor):
    """Works on a cluster. Dask's own executor asks for a future's status after its result, which has another one by
    then where the worker that had the result died in between: it raises TypeError for a job that went well."""

    def __init__(self, submit: Callable[..., Callable[[], Any]]) -> None:
        self._submit = submit

    def submit(self, function, /, *arguments, **named) -> Future:
        return _Lazy(self._submit(function, *arguments, **named))


class _Lazy(Future):
    """A future that does its work, or waits for it, when it is asked for the result."""

    def __init__(self, call):
        super().__init__()
        self._call = call

    def result(self, timeout: float | None = None):
        return self._call()


def jobs_for(paths: Iterable[Path], chat: Path | None, speakers: dict[str, str], video: Path | None,
             without: tuple[str, ...] = (), *, speech: Path | None = None, recogniser: str | None = None,
             model: str | None = None, placement: VideoPlacement | None = None) -> list[Job]:
    """One job a recording, with absolute paths of what goes along; raises InputError for a video or the speech of
    several."""
    paths = list(paths)
    if (video is not None or placement) and len(paths) > 1:
        subject = "--video requires" if video else "a video placement requires"
        raise InputError(f"{subject} a single recording: a video shows one session")
    if speech is not None and len(paths) > 1:
        raise InputError("--speech requires a single recording: it is the speech of one session")
    return [Job(path, chat and chat.resolve(), speakers, video and video.absolute(), speech and speech.absolute(),
                recogniser, model, without, placement) for path in paths]
