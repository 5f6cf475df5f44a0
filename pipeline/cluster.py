"""A Dask cluster by its scheduler's address, with plain error messages."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from schemas import InputError

from . import extras
from .workers import WorkLost

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")
# What scheduler and workers are asked, in Python's own words: who has no demotape can answer that, too.
_THEIRS = "__import__('pipeline.workers') and __import__('importlib.metadata').metadata.version('demotape')"
CONNECT_TIMEOUT = 10  # seconds in which a scheduler must answer and have a worker
ANSWER_TIMEOUT = 60  # seconds in which all workers must answer, though they are at work


@contextmanager
def connect(address: str) -> Iterator["Client"]:
    """A client of the scheduler at `tcp://HOST:PORT`, which has workers.

    The workers need demotape, and the recordings under the same paths. Raises InputError when there is no scheduler at
    that address or none that has a worker, or Dask is not installed.
    """
    with extras.importing("cluster"):
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    for name in ("distributed", "distributed.client"):  # what goes wrong is said here, without its tracebacks
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address, strict=True)
    except (ValueError, TypeError):
        raise InputError(f"--scheduler {address}: must have a host and port, such as tcp://10.0.0.7:8786") from None
    try:
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler {address}: no Dask scheduler responds ({error})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
        except TimeoutError:
            raise InputError(f"--scheduler {address}: the scheduler has no worker; start one with: "
                             f"dask worker {address}") from None
        _check_versions(client, address)
        yield client


def _check_versions(client: "Client", address: str) -> None:
    """Raise InputError where scheduler or workers have another demotape: they would give no answer, or another one."""
    ours = version("demotape")
    try:
        versions = client.sync(client.run, eval, _THEIRS, on_error="return", callback_timeout=ANSWER_TIMEOUT)
    except TimeoutError:
        raise InputError(f"--scheduler {address}: a worker does not respond; find and stop the one that "
                         "hangs") from None
    try:
        versions[address] = client.run_on_scheduler(eval, _THEIRS)
    except Exception as error:  # whatever it is
        versions[address] = error
    for worker, theirs in versions.items():
        if theirs != ours:
            description = "no working demotape" if isinstance(theirs, Exception) else f"demotape {theirs}"
            raise InputError(f"--scheduler {address}: {worker} has {description}; install demotape {ours} there")


def submit(client: "Client", function: Callable[..., Result], *arguments: Any, **named: Any) -> Callable[[], Result]:
    """Give the cluster a piece of work; the call that is returned waits for its result. That raises WorkLost for what
    the cluster, not the work, does wrong.

    A piece given up because its workers died is tried once more: Dask suspects all that those workers had before them,
    which may be the neighbours of the one that ends them.
    """
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    first = client.submit(function, *arguments, pure=False, **named)

    def result() -> Result:
        try:
            try:
                return first.result()
            except KilledWorker:
                return client.submit(function, *arguments, pure=False, **named).result()
        except KilledWorker:
            raise WorkLost("its workers died (out of memory?)") from None
        except (CancelledError, CommClosedError):
            raise WorkLost("the connection to the cluster's scheduler was lost; start again when it is "
                           "available") from None

    return result


def threads(client: "Client") -> int:
    """How many pieces of work a cluster does at once."""
    return max(1, sum(client.nthreads().values()))
