"""Running a demonstration again for the review app, which knows no browser itself."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from recorder.reader import Recording
from schemas import DemotapeError
from schemas.types.proof import Proof
from schemas.types.recordings import Demonstration, State

_A_TURN, _AT_LEAST = 30.0, 120.0  # seconds that a run may take for each turn, and besides


def run_again(recording: Recording, demonstration: Demonstration, on_turn: Callable[[int, int], None],
              save_blob: Callable[[bytes], str], last: State | None = None) -> Proof:
    """Run a demonstration offline in a browser of its own; returns its proof. `save_blob` stores a screenshot of it;
    `last`: the state that it should end in, if not that of the recording.

    Raises InputError as `replay.running.running.run` does, DemotapeError where no browser can be started or it takes
    too long.
    """
    from playwright.async_api import Error as PlaywrightError

    from replay.running import running
    from replay.running.proof import proof_of

    async def run(out: Path) -> running.Result:
        async with asyncio.timeout(_AT_LEAST + _A_TURN * len(demonstration["turns"])):
            return await running.run(recording, demonstration, out, on_turn=on_turn, last=last)

    try:
        with tempfile.TemporaryDirectory(prefix="demotape-run-") as folder:
            result = asyncio.run(run(Path(folder) / "run"))
    except TimeoutError:
        raise DemotapeError("the replay took too long") from None
    except PlaywrightError as error:
        raise DemotapeError(f"the replay failed: {str(error).splitlines()[0][:300]}") from None
    return proof_of(demonstration, result, live=False, save_blob=save_blob)
