"""Makes the samples of demonstrations, here or in several processes, and hands them to the format's writer in order."""

import pickle
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pipeline import workers
from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.limited import Allowance, Processes
from schemas import DemotapeError, InputError, limits

from .source import File, Options, Source, Tally

# What reading a damaged demonstration meets, besides our own error.
FAULTS = (InputError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
_LIMITED = Processes(1, niceness=10)
SPOOL = 32 << 20  # bytes of a demonstration's samples that stay in memory until it is known that all can be made
AHEAD = 2  # demonstrations that each process may be ahead of the writer: memory and disk stay bounded


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


def run(sources: Iterable[Source], format: Format, destination: Destination, options: Options, *, jobs: int = 1,
        limited: bool = False, progress: Callable[[str], None] = lambda name: None, faults: Faults = ()) -> None:
    """Write all demonstrations in their order; the bytes do not depend on the number of `jobs`, nor on `limited`.

    One that meets one of the `faults` is left out whole.
    """
    workers.keep_freed_memory()
    with format.writer(destination, options) as writer:
        for source, made in _made(_claimed(sources, destination), format, options, jobs, limited, faults):
            if isinstance(made, Exception):
                destination.leave_out(source, made)
            else:
                samples, tally = made
                for sample in samples:
                    writer.write(source, sample)
                destination.add_demonstration(source, tally)
                writer.add(source)
            progress(source.id)


def _claimed(sources: Iterable[Source], destination: Destination) -> Iterator[Source]:
    for source in sources:
        destination.claim(source)
        yield source


def _made(sources: Iterable[Source], format: Format, options: Options, jobs: int, limited: bool, faults: Faults
          ) -> Iterator[_Made]:
    """Each demonstration with its samples; the tally is complete when they are all taken."""
    if limited:
        yield from _made_in_limits(sources, format, options, faults)
        return
    if jobs > 1:
        yield from _made_elsewhere(sources, format, options, jobs, faults)
        return
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


def _made_in_limits(sources: Iterable[Source], format: Format, options: Options, faults: Faults) -> Iterator[_Made]:
    """The same in a process with limits; what takes more raises TooMuch, naming the demonstration."""
    with _folder() as folder:
        for number, source in enumerate(sources):
            spool = folder / str(number)
            allowance = Allowance(limits.EXPORT_SECONDS + limits.EXPORT_SECONDS_TURN * len(source.turns),
                                  limits.MOST_MEMORY, limits.JOB_CLOCK)
            try:
                tally = _LIMITED.run(allowance, f"demonstration {source.id!r}", _spool, format.samples, source, options,
                                     spool)
            except faults as error:
                spool.unlink(missing_ok=True)
                yield source, error
            else:
                yield source, (_read_file(spool), tally)


def _made_elsewhere(sources: Iterable[Source], format: Format, options: Options, jobs: int, faults: Faults
                    ) -> Iterator[_Made]:
    """The same by several processes. What they make goes through files, so that no demonstration is in memory whole."""
    waiting: deque[tuple[Source, Path, Future[Tally]]] = deque()
    # A fresh interpreter for each: forking a process with threads may hang.
    with (_folder() as folder,
          ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=workers.begin) as pool):
        try:
            for number, source in enumerate(sources):
                spool = folder / str(number)
                waiting.append((source, spool, pool.submit(_spool, format.samples, source, options, spool)))
                if len(waiting) > AHEAD * jobs:
                    yield _taken(*waiting.popleft(), faults)
            while waiting:
                yield _taken(*waiting.popleft(), faults)
        finally:
            pool.shutdown(cancel_futures=True)


def _spool(samples: Samples, source: Source, options: Options, spool: Path) -> Tally:
    with spool.open("wb") as file:
        return _fill(file, samples, source, options)


def _fill(spool: Any, samples: Samples, source: Source, options: Options) -> Tally:
    tally = Tally()
    for sample in samples(source, options, tally):
        pickle.dump(sample, spool, pickle.HIGHEST_PROTOCOL)
    return tally


def _taken(source: Source, spool: Path, future: Future[Tally], faults: Faults) -> _Made:
    try:
        return source, (_read_file(spool), future.result())
    except BrokenExecutor:
        raise DemotapeError(f"demonstration {source.id!r}: the process that worked on it died (out of memory?); "
                            "export with fewer --jobs") from None
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
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="demotape-export-") as folder:
        yield Path(folder)
