"""Warnings for reviewers, each with its reason and, if possible, a ready edit that fixes it.

A check is a function from the material to findings; this table is all of demotape's own, and plug-ins add theirs
(docs/plugins.md). An earlier stage may note one itself, of what only it knows: `coarse-time` comes from placing the
chat. `unused-intent` is the review app's, of what its projects know. docs/checks.md has a table.
"""

from collections import defaultdict

from pipeline.context import Context
from schemas import types
from schemas.types.recordings import Demonstration

from . import chat, controls, imports, order, plugged, privacy, screenshots, targets
from .material import Material
from .plugged import Check

CHECKS: dict[str, Check] = {
    "broken-screenshot": Check(("broken-screenshot", "late-screenshot"), screenshots.broken_screenshot),
    "unlike-page": Check(("unlike-page", "half-loaded"), screenshots.unlike_page),
    "rendered-differently": Check(("rendered-differently",), screenshots.rendered_differently),
    "in-video": Check(("not-in-video", "unsure-in-video", "late-screenshot", "replaced-screenshot"),
                      screenshots.in_video),
    "without-place": Check(("no-element", "no-box", "outside-viewport"), targets.without_position),
    "not-in-page": Check(("not-in-page",), targets.missing_from_page),
    "empty-input": Check(("empty-input",), targets.empty_input),
    "idle-hover": Check(("idle-hover",), targets.idle_hover),
    "doubled-submit": Check(("doubled-submit",), targets.doubled_submit),
    "unexplained-change": Check(("unexplained-change",), controls.unexplained_change),
    "against-time": Check(("against-time",), order.against_time),
    "against-tabs": Check(("against-tabs",), order.against_tabs),
    "long-gap": Check(("long-gap",), order.long_gap),
    "lost-lines": Check(("lost-lines",), order.lost_lines),
    "import-gap": Check(("import-gap",), imports.import_gap),
    "typo": Check(("typo",), chat.typos),
    "privacy-in-chat": Check(("personal-data",), privacy.in_chat),
    "privacy-in-arguments": Check(("personal-data",), privacy.in_arguments),
    "privacy-in-address": Check(("personal-data",), privacy.in_address),
    "privacy-in-page": Check(("personal-data",), privacy.in_page),
}
UNUSED_INTENT = "unused-intent"
_UNEXPLAINED = "unexplained-change"
_RENDERED = "rendered-differently"
KINDS = (
    "broken-screenshot", "late-screenshot", "unlike-page", "half-loaded", "rendered-differently", "not-in-video",
    "unsure-in-video", "replaced-screenshot", "no-element", "no-box", "outside-viewport", "not-in-page",
    "empty-input", "idle-hover", "doubled-submit", "unexplained-change", "against-time", "against-tabs", "long-gap",
    "lost-lines", "import-gap", "coarse-time", "typo", "personal-data", UNUSED_INTENT,
)


def all_kinds() -> tuple[str, ...]:
    """The kinds of all checks, those of plug-ins last."""
    return *KINDS, *(kind for _, check in plugged.plugin_checks(CHECKS, KINDS) for kind in check.kinds)


def find_checks(material: Material) -> dict[str, list[types.Check]]:
    """All checks by the turn's id, in the order of CHECKS, plug-ins' last; see CheckSchema for their form."""
    checks_by_turn: dict[str, list[types.Check]] = defaultdict(list)
    for check in CHECKS.values():
        for finding in check.find(material):
            checks_by_turn[finding.turn].append(plugged.entry_of(finding))
    for turn, entry in plugged.find(material, plugged.plugin_checks(CHECKS, KINDS)):
        checks_by_turn[turn].append(entry)
    return checks_by_turn


find = find_checks  # its name in earlier versions


def with_checks_of_rendering(demonstration: Demonstration) -> Demonstration:
    """The demonstration with the checks of rendered pages made anew: of what was measured since."""
    entries = {finding.turn: plugged.entry_of(finding)
               for finding in screenshots.find_rendered_differently(demonstration["turns"])}
    turns = [turn | {"checks": [check for check in turn["checks"] if check["kind"] != _RENDERED]
                     + [entries[name] for name in (turn["id"],) if name in entries]}
             for turn in demonstration["turns"]]
    return {**demonstration, "turns": turns}


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: attach the checks to the turns, behind what earlier stages noted, and count unexplained changes.
    """
    turns = demonstration["turns"]
    checks_by_turn = find_checks(Material(turns, context.recording))
    unexplained = sum(check["kind"] == _UNEXPLAINED for checks in checks_by_turn.values() for check in checks)
    return {**demonstration, "unexplained_changes": unexplained,
            "turns": [turn | {"checks": turn["checks"] + checks_by_turn.get(turn["id"], [])} for turn in turns]}
