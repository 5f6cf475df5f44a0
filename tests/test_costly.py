"""The list of costly tests names tests that exist."""

import re

from tests.support.checkout import ROOT
from tests.support.processor_time import COSTLY_TESTS


def test_the_costly_tests_exist():
    for name in COSTLY_TESTS.read_text(encoding="utf-8").split():
        path, _, function = name.partition("::")
        assert re.search(rf"^def {function}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), \
            f"{name}: measure again, as tests/support/processor_time.py says"
