"""Near-duplicates of demonstrations: on one website, with a similar task or similar actions.

Candidates are found by MinHash and locality-sensitive hashing (Broder 1997; datasketch), then compared exactly. Who is
nearly the same as one of a group is in it, so that no two that are nearly the same are in different splits.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from datasketch import MinHash, MinHashLSH

from .source import Source
from .splits import Facts, Group, Rule

_SHINGLE = 3  # characters: words of languages without blanks, too
_ACTIONS = 5  # fewer different ones are no sign
_LONGEST = 5000  # characters, and actions: more tell nothing more, and nobody is to fill the memory
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
    recording: str


class _Groups:
    """Which members hang together."""

    def __init__(self) -> None:
        self._above: list[int] = []  # of each the one that it hangs on; itself for the first of a group

    def add(self) -> int:
        """One more, alone yet; returns its number."""
        self._above.append(len(self._above))
        return self._above[-1]

    def top(self, number: int) -> int:
        """The one that stands for the group."""
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number

    def join(self, first: int, second: int) -> None:
        self._above[self.top(first)] = self.top(second)


class _SimilarMembers:
    """Joins members whose shingles of one kind are nearly the same, website by website."""

    def __init__(self, similarity: float, groups: _Groups):
        self._similarity, self._groups = similarity, groups
        self._parameters = _parameters(similarity)
        self._of_site: dict[str, tuple[dict[frozenset[int], int], MinHashLSH]] = {}
        self._shingles: dict[int, frozenset[int]] = {}  # of the members that are in an index

    def add(self, number: int, sites: Iterable[str], shingles: frozenset[int]) -> None:
        """Join a member with all before it; who is in its group already is not compared."""
        hashed = MinHash(num_perm=_PERMUTATIONS, hashfunc=_low_bits)
        hashed.update_batch(shingles)
        for site in sites:
            if site not in self._of_site:
                self._of_site[site] = {}, MinHashLSH(num_perm=_PERMUTATIONS, params=self._parameters)
            known, index = self._of_site[site]
            if (existing := known.setdefault(shingles, number)) != number:
                self._groups.join(number, existing)
                continue
            for other in index.query(hashed):
                if self._groups.top(other) != self._groups.top(number) and (
                        _jaccard(shingles, self._shingles[other]) >= self._similarity):
                    self._groups.join(number, other)
            index.insert(number, hashed)
            self._shingles[number] = shingles


@cache
def _parameters(similarity: float) -> tuple[int, int]:
    """Bands and rows of the index; they take long to find."""
    index = MinHashLSH(threshold=similarity, num_perm=_PERMUTATIONS, weights=_BY_RECALL)
    return index.b, index.r


class TaskTexts:
    """Texts of tasks, each asked which of those before it are nearly the same."""

    def __init__(self, similarity: float = 0.75):
        """`similarity`: Jaccard, of character trigrams; as in the usual rule of splits."""
        self._similarity = similarity
        self._index = MinHashLSH(num_perm=_PERMUTATIONS, params=_parameters(similarity))
        self._shingles: dict[str, frozenset[int]] = {}

    def add(self, key: str, text: str) -> list[str]:
        """One more; returns the keys of those that are nearly the same, the most alike first."""
        shingles = _text_shingles(text)
        if not shingles:
            return []
        hashed = MinHash(num_perm=_PERMUTATIONS, hashfunc=_low_bits)
        hashed.update_batch(shingles)
        scores = {other: _jaccard(shingles, self._shingles[other]) for other in self._index.query(hashed)}
        self._index.insert(key, hashed)
        self._shingles[key] = shingles
        return sorted((other for other, score in scores.items() if score >= self._similarity),
                      key=lambda other: (-scores[other], other))


def near_duplicates(sources: Iterable[Source], rule: Rule) -> list[Group]:
    """Groups of at least two whose Jaccard similarity is `rule.near_duplicates` or more, each with another in it.

    Compared are a task's character trigrams, without case and punctuation, and sets of at least five different actions
    (intent, element, what was typed, page); of both only so many. Demonstrations without a website in common are never
    near-duplicates.
    """
    groups = _Groups()
    tasks, actions = _SimilarMembers(rule.near_duplicates, groups), _SimilarMembers(rule.near_duplicates, groups)
    members: list[_Member] = []
    for source in sources:
        facts, number = rule.facts(source), groups.add()
        members.append(_Member(source.recording.manifest["started_at"], source.id, facts,
                               source.recording.id))
        for kind, shingles in ((tasks, _task(source)), (actions, _actions(source))):
            if shingles:
                kind.add(number, facts.websites or {""}, shingles)
    members_by_group: dict[int, list[_Member]] = defaultdict(list)
    for number, member in enumerate(members):
        members_by_group[groups.top(number)].append(member)
    ordered = (sorted(group, key=lambda member: (member.recorded, member.id)) for group in members_by_group.values()
               if len(group) > 1)
    return [Group(tuple(member.id for member in group), tuple(member.facts for member in group),
                  tuple(member.recording for member in group)) for group in ordered]


def _task(source: Source) -> frozenset[int]:
    return _text_shingles(source.before_edits["task"])


def _text_shingles(task: str) -> frozenset[int]:
    text = _plain(task[:_LONGEST])
    return _hash_shingles(text[start:start + _SHINGLE]
                          for start in range(max(1, len(text) - _SHINGLE + 1))) if text else (
        frozenset())


def _actions(source: Source) -> frozenset[int]:
    """Of what was recorded, as no edit is to move a demonstration; empty where it is little."""
    actions = set[str]()
    for turn in source.before_edits["turns"]:
        if turn["type"] == "browser" and turn["intent"] not in _BY_THE_WAY:
            element, arguments = turn["element"], turn["arguments"]
            page = turn["state"]["url"].partition("?")[0] if turn["state"] else ""
            described = [element["tag"], element["name"] or element["text"]] if element else ["", ""]
            actions.add("\0".join([turn["intent"], page, *described, *(
                str(arguments[name]) for name in _SAID if name in arguments)]))
            if len(actions) == _LONGEST:
                break
    return _hash_shingles(actions) if len(actions) >= _ACTIONS else frozenset()


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()


def _hash_shingles(parts: Iterable[str]) -> frozenset[int]:
    return frozenset(int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest())
                     for part in parts)


def _low_bits(number: int) -> int:
    return number & 0xFFFFFFFF


def _jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    return len(first & second) / len(first | second)
