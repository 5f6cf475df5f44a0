"""Makes demonstrations' samples, here, in several processes or on a cluster, and hands them to the writer in order."""

import io
import pickle
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pipeline import workers
from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.isolation import isolating_threads, run_isolated
from pipeline.sandbox import Allowance
from schemas import DemotapeError, InputError, limits

from .incremental import Part
from .source import File, Options, Source, Tally

# What reading a damaged demonstration meets, besides our own error.
FAULTS = (InputError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
SPOOL = 32 << 20  # bytes of a demonstration's samples that stay in memory until it is known that all can be made
AHEAD = 2  # demonstrations that each worker may be ahead of the writer: memory and disk stay bounded


Faults = tuple[type[Exception], ...]
Samples = Callable[[Source, Options, Tally], Iterator[Any]]
# A demonstration with its samples and their tally, or with why there are none.
_Made = tuple[Source, tuple[Iterable[Any], Tally] | Exception]


@dataclass(frozen=True)
class Format:
    """How demonstrations become a data set.

    `samples(source, options, tally)` yields what one demonstration gives, in any process, and fills in the tally;
    `writer(destination, options)` is a context whose `write(source, sample)` puts it where it belongs.
    """

    samples: Samples
    writer: Callable[[Destination, Options], "Files"]


class Files:
    """The writer of formats whose samples are whole files, and of lines that demonstrations share."""

    def __init__(self, destination: Destination, options: Options):
        self.destination = destination
        self.options = options
        self._open = ExitStack()
        self._shared: dict[str, HashingFile] = {}

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            try:
                self.finish()
            except BaseException:
                self._open.__exit__(*sys.exc_info())  # what is half written is told so
                raise
        self._open.__exit__(*error)

    def earlier(self, source: Source) -> Part | None:
        """What an earlier export to the same destination has of a demonstration, where nothing need be made again."""
        return None

    def retain(self, part: Part) -> None:
        """Take it in."""

    def manifest_fields(self, source: Source) -> dict[str, Any]:
        """What the manifest is to tell of the demonstration that was just written, by field of SourceSchema."""
        return {}

    def write(self, source: Source, sample: Any) -> None:
        """Put a File into the destination, or a Line at the end of a shared file; another format has other samples."""
        if isinstance(sample, File):
            self.destination.write(sample.path, sample.content, sample.samples)
            return
        if sample.path not in self._shared:
            self._shared[sample.path] = self._open.enter_context(self.destination.create(sample.path))
        self._shared[sample.path].write(sample.content)

    def add(self, source: Source) -> None:
        """All samples of a demonstration are written."""

    def finish(self) -> None:
        """All demonstrations are written: what concerns them all may follow."""


def run(sources: Iterable[Source], format: Format, destination: Destination, options: Options, *,
        jobs: int | None = None, scheduler: str | None = None, background: bool = False,
        progress: Callable[[str], None] = lambda name: None, faults: Faults = ()) -> None:
    """Write all demonstrations in their order; the bytes do not depend on who makes them: `jobs` processes with limits
    (in the `background`: with low priority), the cluster of a Dask `scheduler` (its address), or without either this
    process.

    One that meets one of the `faults` is left out whole.
    """
    workers.retain_freed_memory()
    with format.writer(destination, options) as writer:
        def make(these: Iterable[Source]) -> Iterator[_Made]:
            if scheduler:
                return _made_on_cluster(these, format, options, scheduler, faults)
            if jobs is not None:
                return _made_in_limits(these, format, options, jobs, faults, background=background)
            return _made_here(these, format, options, faults)

        for entry in _with_earlier(_claim_each(sources, destination), writer, make):
            if isinstance(entry, Part):
                destination.retain_demonstration(entry.entry)
                writer.retain(entry)
                progress(entry.entry["id"])
                continue
            source, made = entry
            if isinstance(made, Exception):
                destination.leave_out(source, made)
            else:
                samples, tally = made
                for sample in samples:
                    writer.write(source, sample)
                destination.add_demonstration(source, tally, writer.manifest_fields(source))
                writer.add(source)
            progress(source.id)


def _claim_each(sources: Iterable[Source], destination: Destination) -> Iterator[Source]:
    for source in sources:
        destination.claim(source)
        yield source


def _with_earlier(sources: Iterable[Source], writer: Files, make: Callable[[Iterable[Source]], Iterator[_Made]]
                  ) -> Iterator[_Made | Part]:
    """Each demonstration as it is made, or what an earlier export has of it, in their order."""
    waiting: deque[Part | None] = deque()  # None: one that is made

    def new() -> Iterator[Source]:
        for source in sources:
            part = writer.earlier(source)
            waiting.append(part)
            if part is None:
                yield source

    for made in make(new()):
        while (part := waiting.popleft()) is not None:
            yield part
        yield made
    yield from (part for part in waiting if part is not None)


def _made_here(sources: Iterable[Source], format: Format, options: Options, faults: Faults) -> Iterator[_Made]:
    """Each demonstration with its samples; the tally is complete when they are all taken."""
    for source in sources:
        if not faults:
            tally = Tally()
            yield source, (format.samples(source, options, tally), tally)
            continue
        with tempfile.SpooledTemporaryFile(SPOOL) as spool:
            try:
                tally = _fill(spool, format.samples, source, options)
            except faults as error:
                yield source, error
            else:
                spool.seek(0)
                yield source, (_read(spool), tally)


def _made_in_limits(sources: Iterable[Source], format: Format, options: Options, jobs: int, faults: Faults, *,
                    background: bool) -> Iterator[_Made]:
    """The same in processes with limits. What they make goes through files, so that no demonstration is in memory
    whole. One that takes more than it may raises LimitExceeded, naming the demonstration."""
    waiting: deque[tuple[Source, Path, Future[Tally]]] = deque()
    with _folder(options) as folder, isolating_threads(jobs) as threads:
        for number, source in enumerate(sources):
            spool = folder / str(number)
            call = partial(run_isolated, _allowance(source, options), f"demonstration {source.id!r}", _spool,
                           format.samples, source, options, spool, background=background)
            waiting.append((source, spool, threads.submit(call)))
            if len(waiting) > AHEAD * jobs:
                yield _collect_result(*waiting.popleft(), faults)
        while waiting:
            yield _collect_result(*waiting.popleft(), faults)


def _allowance(source: Source, options: Options) -> Allowance:
    """What the samples of a demonstration may take; a model that scores elements is the user's own."""
    seconds = limits.EXPORT_SECONDS + limits.EXPORT_SECONDS_TURN * len(source.turns)
    if options.scorer:
        return Allowance(seconds * limits.MODEL_FACTOR, limits.MODEL_MEMORY, limits.JOB_CLOCK, limits.MODEL_MEMORY)
    return Allowance(seconds, limits.MAX_MEMORY_BYTES, limits.JOB_CLOCK, limits.MAX_MEMORY_BYTES)


def _made_on_cluster(sources: Iterable[Source], format: Format, options: Options, scheduler: str, faults: Faults
                     ) -> Iterator[_Made]:
    """The same by a cluster's workers, which need not see where this machine writes: what they make is sent to it."""
    from pipeline import cluster

    with cluster.connect(scheduler) as client:
        waiting: deque[tuple[Source, Callable[[], tuple[bytes, Tally]]]] = deque()
        ahead = AHEAD * cluster.threads(client)
        for source in sources:
            waiting.append((source, cluster.submit(client, _pack_isolated, format.samples, source, options)))
            if len(waiting) > ahead:
                yield _fetch(*waiting.popleft(), faults)
        while waiting:
            yield _fetch(*waiting.popleft(), faults)


def _pack_isolated(samples: Samples, source: Source, options: Options) -> tuple[bytes, Tally]:
    """In a worker of the cluster: make the samples in a process with limits."""
    return run_isolated(_allowance(source, options), f"demonstration {source.id!r}", _pack, samples, source, options)


def _pack(samples: Samples, source: Source, options: Options) -> tuple[bytes, Tally]:
    workers.retain_freed_memory()
    spool = io.BytesIO()
    tally = _fill(spool, samples, source, options)
    return spool.getvalue(), tally


def _fetch(source: Source, result: Callable[[], tuple[bytes, Tally]], faults: Faults) -> _Made:
    try:
        content, tally = result()
    except workers.WorkLost as error:
        raise DemotapeError(f"demonstration {source.id!r}: {error}") from None
    except faults as error:
        return source, error
    return source, (_read(io.BytesIO(content)), tally)


def _spool(samples: Samples, source: Source, options: Options, spool: Path) -> Tally:
    with spool.open("wb") as file:
        return _fill(file, samples, source, options)


def _fill(spool: Any, samples: Samples, source: Source, options: Options) -> Tally:
    tally = Tally()
    for sample in samples(source, options, tally):
        pickle.dump(sample, spool, pickle.HIGHEST_PROTOCOL)
    return tally


def _collect_result(source: Source, spool: Path, future: Future[Tally], faults: Faults) -> _Made:
    try:
        return source, (_read_file(spool), future.result())
    except faults as error:
        spool.unlink(missing_ok=True)
        return source, error


def _read_file(spool: Path) -> Iterator[Any]:
    with spool.open("rb") as file:
        yield from _read(file)
    spool.unlink()


def _read(spool: Any) -> Iterator[Any]:
    while True:
        try:
            yield pickle.load(spool)
        except EOFError:
            return


@contextmanager
def _folder(options: Options) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="demotape-export-", dir=options.temporary) as folder:
        yield Path(folder)
