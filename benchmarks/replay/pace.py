"""How much faster is a fast run, and are its verdicts the same?

    python -m benchmarks.replay.pace [--seed N] [--pages N] [--only NAME] [--rounds N] [--keep DIR] [--recorded DIR]

The sessions of `benchmarks.replay` are run in both modes in turns. Printed: seconds beside the recorded ones, and turns
whose verdict differs between the modes; and, as a run on a busy machine does not always end alike, between two rounds
of the ordinary mode.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from pipeline import refresh
from recorder import Recording
from replay.running import running

from .run import in_folder, of_sessions, record_all

_MODES = (False, True)


async def measure(paths: list[Path], rounds: int) -> dict[str, Any]:
    """Run each session in both modes, as often as `rounds` says, the modes in turns."""
    seconds, recorded, turns = {mode: 0.0 for mode in _MODES}, 0.0, 0
    changed, unsteady = 0, 0
    for number, path in enumerate(paths):
        demonstration, _ = refresh(path)
        verdicts: dict[bool, list[list[str]]] = {mode: [] for mode in _MODES}
        for round_number in range(rounds):
            for mode in _MODES if (number + round_number) % 2 else reversed(_MODES):
                with tempfile.TemporaryDirectory() as folder:
                    result = await running.run(Recording(path), demonstration, Path(folder) / "run", fast=mode)
                seconds[mode] += result.seconds
                verdicts[mode].append([outcome.verdict for outcome in result.outcomes])
            recorded += result.recorded_seconds
        ordinary, fast = verdicts[False], verdicts[True]
        turns += len(fast[0])
        changed += sum(one != other for one, other in zip(ordinary[0], fast[0], strict=True))
        unsteady += sum(one != other for one, other in zip(ordinary[0], ordinary[-1], strict=True))
        print(f"  {path.name}: {ordinary[0].count('same')} and {fast[0].count('same')} of {len(fast[0])} the same; "
              f"so far {seconds[False]:.1f} s and {seconds[True]:.1f} s of {recorded:.1f} s", flush=True)
    return {"benchmark": "replay.pace", "sessions": len(paths), "turns": turns, "rounds": rounds,
            "time_ratio": round(seconds[False] / recorded, 3), "fast_time_ratio": round(seconds[True] / recorded, 3),
            "times_faster": round(seconds[False] / seconds[True], 2), "turns_with_another_verdict": changed,
            "turns_with_another_verdict_in_two_rounds": unsteady if rounds > 1 else None}


def main() -> None:
    parser = of_sessions(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--recorded", type=Path, help="folder of recordings to use instead of new ones")
    options = parser.parse_args()

    def work(folder: Path) -> dict[str, Any]:
        if options.recorded:
            paths = sorted(path.parent for path in options.recorded.glob("*/recording.json"))
        else:
            paths = [session.path for session in asyncio.run(record_all(folder, options))]
        return asyncio.run(measure(paths, options.rounds))

    in_folder(options, work)


if __name__ == "__main__":
    main()
