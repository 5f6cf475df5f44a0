"""Measures which tests are costly: `PROCESSOR_TIME=FILE pytest -p tests.support.processor_time --all`, then
`python -m tests.support.processor_time FILE` writes costly_tests.txt, of which `make test` runs a rotating part.

Measured is the processor time of the test's process and all below it, so that a busy machine changes little.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

COSTLY_TESTS = Path(__file__).parent / "costly_tests.txt"
# Checks of the whole source, which any change may fail: they run for every commit, whatever they cost.
CHECKS_OF_SOURCE = tuple(f"tests/test_{name}.py::" for name in (
    "architecture", "docs", "hostile", "optional_parts", "patterns", "portable", "words"))
MIN_COSTLY_S = 0.5  # processor seconds of a function's most expensive row


def processor_seconds() -> float:
    """Of this process, of those below it, and of those that have ended there."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has ended
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Append a test's name and cost to the file."""
    begun = processor_seconds()
    try:
        return (yield)
    finally:
        with open(os.environ["PROCESSOR_TIME"], "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, processor_seconds() - begun]) + "\n")


def main() -> None:
    """Write costly_tests.txt from a file of measurements."""
    rows = defaultdict(list)
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        name, seconds = json.loads(line)
        rows[name.partition("[")[0]].append(seconds)
    costly = sorted(name for name, seconds in rows.items()
                    if max(seconds) >= MIN_COSTLY_S and not name.startswith(CHECKS_OF_SOURCE))
    COSTLY_TESTS.write_text("".join(f"{name}\n" for name in costly), encoding="utf-8")
    print(f"{len(costly)} of {len(rows)} functions are costly")


if __name__ == "__main__":
    main()
