"""Differences between two exports, by their manifests. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .manifest import Manifest, ManifestSource

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True)
class Difference:
    """A demonstration that is in one export only (`added`, `removed`), or `changed`: for which `reasons`. `turns`: how
    many of its samples are added, removed and changed, as far as the manifests tell."""

    kind: str
    id: str
    split: str
    reasons: tuple[str, ...] = ()
    turns: Counter[str] = field(default_factory=Counter)


def differences(before: Manifest, after: Manifest) -> Iterator[Difference]:
    """How to come from one export to the other, in the order of ids."""
    old, new = ({entry["id"]: entry for entry in manifest["demonstrations"]} for manifest in (before, after))
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield Difference(ADDED, name, _split(new[name]), turns=Counter({ADDED: new[name]["turns"]}))
        elif name not in new:
            yield Difference(REMOVED, name, _split(old[name]), turns=Counter({REMOVED: old[name]["turns"]}))
        elif (reasons := tuple(_reasons(old[name], new[name]))):
            yield Difference(CHANGED, name, _split(new[name]), reasons, _turns(old[name], new[name]))


def _reasons(old: ManifestSource, new: ManifestSource) -> Iterator[str]:
    if old["recording"] != new["recording"]:
        yield "another recording"
    if _split(old) != _split(new):
        yield f"moved from {_split(old)} to {_split(new)}"
    if old["sha256"] != new["sha256"]:
        yield "its turns were processed or edited again"
    elif old["turns"] != new["turns"]:
        yield "other turns are selected"
    elif _digests(old) and _digests(new):
        if _digests(old) != _digests(new):
            yield "its review or recording, the options or the version changed"
    elif old.get("fingerprint") != new.get("fingerprint"):
        yield "its review or recording, the options or the version may have changed"


def _turns(old: ManifestSource, new: ManifestSource) -> Counter[str]:
    old_digests, new_digests = _digests(old), _digests(new)
    if not old_digests or not new_digests:
        more = new["turns"] - old["turns"]
        return +Counter({ADDED: max(0, more), REMOVED: max(0, -more)})
    changed = sum(old_digests[turn] != new_digests[turn] for turn in old_digests.keys() & new_digests.keys())
    return +Counter({ADDED: len(new_digests.keys() - old_digests.keys()),
                     REMOVED: len(old_digests.keys() - new_digests.keys()), CHANGED: changed})


def _digests(entry: ManifestSource) -> Mapping[str, str]:
    return entry.get("turn_digests", {})


def _split(entry: ManifestSource) -> str:
    return entry.get("split", "train")
