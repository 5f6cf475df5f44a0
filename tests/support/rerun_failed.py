"""`python -m tests.support.rerun_failed`: run the failures of the last run again, separately.

Exits with 0 when the last run ended and everything that failed in it passes now; such tests are named in a last line
that begins with `flaky:`. A run that did not come to its end is a failure, whatever it had found.
"""

import json
import subprocess
import sys

import pytest

from tests.support.checkout import ROOT
from tests.support.failures import EXIT_STATUS_KEY

CACHE = ROOT / ".pytest_cache/v"


def read_cache(key: str) -> object:
    """A value that pytest's cache holds, None without it."""
    path = CACHE / key
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def main() -> int:
    """Rerun; returns the exit code."""
    failed = sorted(read_cache("cache/lastfailed") or {})
    if read_cache(EXIT_STATUS_KEY) != pytest.ExitCode.TESTS_FAILED or not failed:
        print("rerun: the last run did not come to its end, so nothing is run again", file=sys.stderr)
        return 1
    print(f"rerun: {len(failed)} once more, alone", flush=True)
    command = [sys.executable, "-m", "pytest", "--numprocesses", "0", "--last-failed", "--last-failed-no-failures",
               "none", "--continue-on-collection-errors", *sys.argv[1:]]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code == 0:
        print(f"flaky: {' '.join(failed)} ({len(failed)} in all)")
    return code


if __name__ == "__main__":
    sys.exit(main())
