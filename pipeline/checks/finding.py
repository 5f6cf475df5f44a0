"""What a reviewer should look at, each with its reason and, where possible, a ready edit that mends it.

A check is a function from the material to findings; this list is all of them. An earlier stage may note one itself, of
what only it knows: `coarse-time` comes from placing the chat. docs/checks.md has a table.
"""

from collections import defaultdict

from . import chat, order, privacy, screenshots, targets
from .material import Material

CHECKS = (
    screenshots.broken, screenshots.unlike_page, screenshots.in_video,
    targets.without_place, targets.missing_from_page, targets.empty_input, targets.idle_hover, targets.doubled_submit,
    order.against_time, order.against_tabs, order.long_gap,
    chat.typos,
    privacy.in_chat, privacy.in_arguments, privacy.in_address, privacy.in_page,
)
KINDS = (
    "broken-screenshot", "late-screenshot", "unlike-page", "half-loaded", "not-in-video", "unsure-in-video",
    "replaced-screenshot", "no-element", "no-box", "outside-viewport", "not-in-page", "empty-input", "idle-hover",
    "doubled-submit", "against-time", "against-tabs", "long-gap", "coarse-time", "typo", "personal-data",
)


def find(material: Material) -> dict[str, list[dict]]:
    """All checks by the turn's id, in the order of CHECKS; see CheckSchema for their form."""
    found = defaultdict(list)
    for check in CHECKS:
        for finding in check(material):
            entry = {"kind": finding.kind, "reason": finding.reason}
            found[finding.turn].append(entry | ({"fix": finding.fix} if finding.fix else {}))
    return found


def stage(demonstration: dict, context) -> dict:
    """Pipeline stage: attach the checks to the turns, behind what earlier stages noted."""
    turns = demonstration["turns"]
    found = find(Material(turns, context.recording))
    return demonstration | {"turns": [turn | {"checks": turn["checks"] + found.get(turn["id"], [])} for turn in turns]}
