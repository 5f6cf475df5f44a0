"""Libraries that read hostile input have a minimum version, documented with its reason, which the pinned one meets."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.version import Version

from tests.support.checkout import ROOT

DOCUMENT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
REQUIRED = {requirement.name: requirement for requirement in map(Requirement, tomllib.loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])}
PINNED = dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"),
                         re.M))
READ_HOSTILE_INPUT = ("av", "cryptography", "h11", "lxml", "opencv-python-headless", "pyarrow", "turbohtml",
                      "websockets")


def test_minimum_versions_are_documented():
    table = DOCUMENT[DOCUMENT.index("## Libraries that read hostile input"):]
    documented = dict(re.findall(r"^\| ([\w.-]+) \| ([\d.]+) \| [^|]+ \|$", table[:table.index("## OWASP")], re.M))
    minimums = {name: next(part.version for part in REQUIRED[name].specifier if part.operator == ">=")
                for name in READ_HOSTILE_INPUT}
    assert documented == minimums


def test_pinned_versions_meet_the_required_ones():
    pinned = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PINNED.items()}
    assert {name for name in REQUIRED if name not in pinned} == set()
    assert [name for name, requirement in REQUIRED.items()
            if not requirement.specifier.contains(Version(pinned[name]), prereleases=True)] == []
