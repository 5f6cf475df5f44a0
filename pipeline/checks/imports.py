"""Check of imported recordings: what their source did not have."""

from collections.abc import Iterator

from .material import Finding, Material

_MAX_REASONS = 3  # reasons for what was left out


def import_gap(material: Material) -> Iterator[Finding]:
    """What no turn of an imported recording has, and what of its source was left out; at the first turn."""
    imported = material.imported
    if not imported or not material.turns:
        return
    gaps = []
    if imported["lacks"]:
        gaps.append(f"has no {_listed(imported['lacks'])}")
    if imported["left_out"]:
        reasons = sorted(imported["left_out"].items(), key=lambda reason: -reason[1])[:_MAX_REASONS]
        gaps.append("has more than was imported (" + "; ".join(f"{name}: {count}" for name, count in reasons) + ")")
    if gaps:
        yield Finding(material.turns[0]["id"], "import-gap",
                      f"The source of this demonstration ({imported['format']}) {' and '.join(gaps)}.")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
