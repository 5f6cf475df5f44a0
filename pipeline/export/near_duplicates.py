"""Demonstrations that are nearly the same as others: on one website, with nearly the same task or the same actions.

Candidates are found by MinHash and locality-sensitive hashing (Broder 1997; datasketch), then compared exactly. Who is
nearly the same as one of a group is in it, so that no two that are nearly the same are in different splits.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from datasketch import MinHash, MinHashLSH

from .source import Source
from .splits import Facts, Group, Rule

_SHINGLE = 3  # characters: words of languages without blanks, too
_ACTIONS = 5  # fewer different ones are no sign
_BY_THE_WAY = ("hover", "scroll")
_SAID = ("text", "value", "checked", "url", "key")  # arguments
_PERMUTATIONS = 128
_BY_RECALL = (0.1, 0.9)  # what is found wrongly is compared; what is not found is lost
_BLANKS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class _Member:
    recorded: datetime
    id: str
    facts: Facts


class _Alike:
    """Finds texts and action lists that are nearly the same, each with all of one kind."""

    def __init__(self, similarity: float):
        self._similarity = similarity
        self._index = MinHashLSH(threshold=similarity, num_perm=_PERMUTATIONS, weights=_BY_RECALL)
        self._known: dict[frozenset[int], int] = {}
        self._sets: list[frozenset[int]] = []
        self._like: list[list[int]] = []

    def find(self, shingles: frozenset[int]) -> tuple[int, list[int]]:
        """Its number, and those of all that are nearly the same so far."""
        number = self._known.setdefault(shingles, len(self._sets))
        if number == len(self._sets):
            hashed = MinHash(num_perm=_PERMUTATIONS, hashfunc=_low_bits)
            hashed.update_batch(shingles)
            like = [other for other in self._index.query(hashed)
                    if _jaccard(shingles, self._sets[other]) >= self._similarity]
            self._index.insert(number, hashed)
            self._sets.append(shingles)
            self._like.append([number, *like])
            for other in like:
                self._like[other].append(number)
        return number, self._like[number]


def near_duplicates(sources: Iterable[Source], rule: Rule) -> list[Group]:
    """Groups of at least two whose Jaccard similarity is `rule.near_duplicates` or more, each with another in it.

    Compared are a task's character trigrams, without case and punctuation, and sets of at least five different actions
    (intent, element, what was typed, page). Demonstrations without a website in common are never near-duplicates.
    """
    members: list[_Member] = []
    above: list[int] = []  # of each the one that it hangs on; itself for the first of a group
    first: dict[tuple[str, str, int], int] = {}  # website, kind, number of what is alike -> member
    kinds = {"task": _Alike(rule.near_duplicates), "actions": _Alike(rule.near_duplicates)}

    def top(number: int) -> int:
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    for number, source in enumerate(sources):
        facts = rule.facts(source)
        members.append(_Member(source.recording.manifest["started_at"], source.id, facts))
        above.append(number)
        for kind, shingles in (("task", _task(source)), ("actions", _actions(source))):
            if shingles:
                own, like = kinds[kind].find(shingles)
                for site in facts.websites or {""}:
                    for other in {first[site, kind, alike] for alike in like if (site, kind, alike) in first}:
                        above[top(number)] = top(other)
                    first.setdefault((site, kind, own), number)
    groups: dict[int, list[_Member]] = defaultdict(list)
    for number, member in enumerate(members):
        groups[top(number)].append(member)
    ordered = (sorted(group, key=lambda member: (member.recorded, member.id)) for group in groups.values()
               if len(group) > 1)
    return [Group(tuple(member.id for member in group), tuple(member.facts for member in group)) for group in ordered]


def _task(source: Source) -> frozenset[int]:
    text = _plain(source.demonstration["task"])
    return _hashed(text[start:start + _SHINGLE] for start in range(max(1, len(text) - _SHINGLE + 1))) if text else (
        frozenset())


def _actions(source: Source) -> frozenset[int]:
    """Of what was done, dropped turns too, as no edit is to move a demonstration; empty where it is little."""
    found = set[str]()
    for turn in source.demonstration["turns"]:
        if turn["type"] == "browser" and turn["intent"] not in _BY_THE_WAY:
            element, arguments = turn["element"], turn["arguments"]
            page = turn["state"]["url"].partition("?")[0] if turn["state"] else ""
            told = [element["tag"], element["name"] or element["text"]] if element else ["", ""]
            found.add("\0".join([turn["intent"], page, *told, *(
                str(arguments[name]) for name in _SAID if name in arguments)]))
    return _hashed(found) if len(found) >= _ACTIONS else frozenset()


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()


def _hashed(parts: Iterable[str]) -> frozenset[int]:
    return frozenset(int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest())
                     for part in parts)


def _low_bits(number: int) -> int:
    return number & 0xFFFFFFFF


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)
