"""A check: a click on the element that was clicked right before; the first click may have had no effect."""

from collections.abc import Iterator
from itertools import pairwise

from pipeline.checks import Check, Finding, Material

KIND = "repeated-click"


def find(material: Material) -> Iterator[Finding]:
    """The second click of each pair; to drop the first is offered as a fix."""
    for turn, after in pairwise(material.actions):
        clicks = turn["intent"] == after["intent"] == "click"
        if clicks and turn["element"] and after["element"] and turn["element"]["xpath"] == after["element"]["xpath"]:
            yield Finding(after["id"], KIND, "The same element was clicked right before.",
                          {"op": "drop", "turn": turn["id"]})


CHECK = Check((KIND,), find)
