"""The split of a demonstration: by rule, from a seed and from properties of the demonstration.

Nothing depends on edits or on the other demonstrations, so a demonstration never changes its split when it is edited or
others come; but for near-duplicates, which are in the split of the oldest of them. A release keeps the splits of the
one before it. What is held out is held out whole: a website, category,
region or instructor is in its test split or it is in the others, decided by a hash of its name; so nothing of it is
ever in train.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from marshmallow import ValidationError, fields, validate

from pipeline.plugins import failure
from schemas import InputError, limits
from schemas.addresses import split_address
from schemas.files import parse, read_named
from schemas.formats.parts import Strict, flag, nested, string
from schemas.types.recordings import Demonstration

from .plugged import find_split
from .source import About, Source

SPLITS = ("train", "valid", "test_iid", "test_vis", "test_geo", "test_cat", "test_web")
# The same kinds under the names that Mind2Web gave them; it has none for instructors and regions.
MIND2WEB = {"test_iid": "test_task", "test_web": "test_website", "test_cat": "test_domain"}
SPLIT_FACTORS = {"test_vis": "instructor", "test_geo": "region", "test_cat": "category", "test_web": "website"}
_TRAINED = {"train", "valid", "test_iid"}  # where nothing held out may be

# Registries under which names are given out at the third level; the last label alone is no website.
_SECOND_LEVEL = re.compile(r"^(?:ac|co|com|edu|gob|gov|gouv|mil|ne|net|nom|or|org)$")


@dataclass(frozen=True)
class Facts:
    """What the rule looks at. Empty where it is not known; `vision`: whether the instructor saw the screen."""

    task: str
    websites: frozenset[str]
    category: str = ""
    region: str = ""
    instructor: str = ""
    vision: bool = True

    def names(self, kind: str) -> frozenset[str]:
        """Its websites, or its category, region or instructor, where that is known."""
        return self.websites if kind == "website" else frozenset({getattr(self, kind)} - {""})


class Share(fields.Field[float | list[str]]):
    """What is held out: a share from 0 to 1, or the list of names."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float | list[str]:
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        raise ValidationError("Must be a share from 0 to 1 or a list of names.")


class AboutSchema(Strict):
    """What people know of a website or a demonstration and no recording tells."""

    website = string("short name of the website, Mind2Web's website", required=False)
    category = string("category of the website, also Mind2Web's domain", required=False)
    subdomain = string("finer category, Mind2Web's subdomain", required=False)
    region = string("where the instructor or the website is", required=False)
    instructor = string("name of the instructor, for holding out instructors", required=False)
    vision = flag("false when the instructor did not see the screen", required=False)
    labels = fields.Dict(keys=fields.String(), values=fields.String(), required=False, metadata={
        "description": "anything else, such as difficulty, by name; exports are filtered by it"})


class RuleSchema(Strict):
    """The file given with `--splits`: shares of the splits, and what is known of websites and demonstrations."""

    by = string("a plug-in's split rule, which decides where it can", required=False, load_default="")
    seed = fields.Integer(load_default=0, metadata={"description": "another seed makes other splits"})
    valid = fields.Float(load_default=0.1, validate=validate.Range(0, 1),
                         metadata={"description": "share of the tasks that are not held out"})
    test_iid = fields.Float(load_default=0.1, validate=validate.Range(0, 1),
                            metadata={"description": "share of the tasks that are not held out; Mind2Web's cross-task"})
    test_web = Share(load_default=0.0, metadata={"description": "held-out websites; Mind2Web's cross-website"})
    test_cat = Share(load_default=0.0, metadata={"description": "held-out categories; Mind2Web's cross-domain"})
    test_geo = Share(load_default=0.0, metadata={"description": "held-out regions"})
    test_vis = Share(load_default=0.0, metadata={
        "description": "held-out instructors; who did not see the screen is always held out"})
    near_duplicates = fields.Float(load_default=0.75, validate=validate.Range(0, 1), metadata={
        "description": "similarity from which demonstrations of a website share a split; 0: none are looked for"})
    websites = fields.Dict(keys=fields.String(), values=nested(AboutSchema, ""), load_default=dict,
                           metadata={"description": "what is known, by website"})
    demonstrations = fields.Dict(keys=fields.String(), values=nested(AboutSchema, ""), load_default=dict,
                                 metadata={"description": "what is known, by id; goes before the website's"})


@dataclass(frozen=True)
class Group:
    """Near-duplicates: their ids, facts and ids of recordings, the oldest first."""

    ids: tuple[str, ...]
    facts: tuple[Facts, ...]
    recordings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """The split rule; see RuleSchema. Without one, every demonstration is in train."""

    seed: int = 0
    valid: float = 0.0
    test_iid: float = 0.0
    held_out: dict[str, float | list[str]] = field(default_factory=dict)
    websites: dict[str, About] = field(default_factory=dict)
    demonstrations: dict[str, About] = field(default_factory=dict)
    by: str = ""
    near_duplicates: float = 0.0

    @property
    def title(self) -> str:
        """Who decides, for the manifest; raises InputError as `find_split` does."""
        return f"{self.by} ({find_split(self.by)[0].distribution})" if self.by else ""

    def about(self, source: Source) -> About:
        """What people told of a demonstration: of its websites, the first's first, and of itself."""
        return self._about(source, source.demonstration)

    def _about(self, source: Source, demonstration: Demonstration) -> About:
        labels: About = {}
        for site in reversed(websites_of(demonstration)):
            labels.pop("website", None)  # the name of another
            labels |= self.websites.get(site, {})
        return labels | self.demonstrations.get(source.id, {})

    def labels(self, source: Source) -> dict[str, str]:
        """All that people told of it in words, by name: what the file says of it goes before what it says of its
        websites, and that before what reviewers said."""
        said: About = {"labels": {name: ", ".join(values)
                                  for name, values in source.demonstration.get("labels", {}).items()}}
        label_sources = [said, *(self.websites.get(site, {}) for site in reversed(websites(source))),
                self.demonstrations.get(source.id, {})]
        return {name: value for about in label_sources for name, value in (about | about.get("labels", {})).items()
                if isinstance(value, str)}

    def facts(self, source: Source) -> Facts:
        """What the rule looks at in a demonstration: as it was recorded, so that no edit, and no split of the session,
        moves it."""
        recorded = source.before_edits
        about = self._about(source, recorded)
        task = " ".join(recorded["task"].lower().split()) or source.recording.id
        return Facts(task, frozenset(websites_of(recorded)), about.get("category", ""), about.get("region", ""),
                     about.get("instructor", ""), about.get("vision", _saw_screen(source)))

    def split(self, *group: Facts) -> str:
        """The split of a demonstration with these facts, or of near-duplicates, the oldest first: held out where one of
        them is."""
        for split, kind in SPLIT_FACTORS.items():
            names = {name for facts in group for name in facts.names(kind)}
            if any(self.is_held_out(split, name) for name in names) or (
                    split == "test_vis" and not all(facts.vision for facts in group)):
                return split
        position = self._position("task", group[0].task)
        if position < self.test_iid:
            return "test_iid"
        return "valid" if position < self.test_iid + self.valid else "train"

    def assign(self, source: Source, group: Group | None = None, fixed: str | None = None) -> Source:
        """The source with its split, as one of a group of near-duplicates; `fixed`: the split that it keeps. Raises
        InputError when the plug-in that decides does not work."""
        facts = self.facts(source)
        split = (fixed or (self.by and self._by_plugin(source, facts))
                 or self.split(*(group.facts if group else (facts,))))
        same_recording = group and group.recordings and group.recordings[0] == source.recording.id
        oldest = group.ids[0] if group and not same_recording else source.id
        return replace(source, split=split, about=self.about(source),
                       near_duplicate_of="" if oldest == source.id else oldest)

    def _by_plugin(self, source: Source, facts: Facts) -> str | None:
        """What a plug-in says; None where it leaves it to the rule."""
        plugin, decide = find_split(self.by)
        try:
            split = decide(source, facts)
        except Exception as error:  # foreign code
            raise InputError(f"demonstration {source.id!r}: {failure(plugin, error)}") from error
        if split is not None and split not in SPLITS:
            raise InputError(f"demonstration {source.id!r}: {plugin} returned the unknown split {split!r}; splits "
                             f"are {', '.join(SPLITS)}")
        return split

    def is_held_out(self, split: str, name: str) -> bool:
        """Whether a website, category, region or instructor of that name belongs to this test split alone."""
        share = self.held_out.get(split, 0.0)
        return name in share if isinstance(share, list) else self._position(split, name) < share

    def _position(self, kind: str, name: str) -> float:
        """A number from 0 to below 1, the same for the same name for ever."""
        digest = hashlib.sha256(f"{self.seed}\0{kind}\0{name}".encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8]) / 2**64


def read_rule(path: Path) -> Rule:
    """The rule in a JSON file; raises InputError naming the file and the field that is wrong, or the plug-in."""
    content, _ = parse(read_named(path, limits.JSON), RuleSchema(), str(path))
    return make_rule(content, str(path))


def make_rule(content: dict[str, Any], where: str) -> Rule:
    """The rule of what RuleSchema has read; raises InputError naming the place and the field, or the plug-in."""
    if content["valid"] + content["test_iid"] > 1:
        raise InputError(f"{where}: field valid: the sum of valid and test_iid is greater than 1")
    if content["by"]:
        find_split(content["by"])
    return Rule(content["seed"], content["valid"], content["test_iid"],
                {split: content[split] for split in SPLIT_FACTORS},
                content["websites"], content["demonstrations"], content["by"], content["near_duplicates"])


def websites(source: Source) -> list[str]:
    """Websites that a demonstration was on, in the order of their first turn."""
    return websites_of(source.demonstration)


def websites_of(demonstration: Demonstration) -> list[str]:
    """As `websites`: by what the tabs showed; by the addresses of loads when nothing is known of that."""
    turns = [turn for turn in demonstration["turns"] if turn["type"] == "browser"]
    shown = [turn["state"]["url"] for turn in turns if turn["state"]]
    for addresses in (shown, [turn["arguments"].get("url", "") for turn in turns]):
        if sites := dict.fromkeys(filter(None, map(website, addresses))):
            return list(sites)
    return []


@lru_cache(maxsize=4096)
def website(url: str) -> str:
    """The website of an address: its host without the parts that one owner gives out; empty when it has no host."""
    parts = split_address(url)
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not host:
        return ""
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit():
        return host
    label_count = 3 if len(labels) > 2 and _SECOND_LEVEL.match(labels[-2]) and len(labels[-1]) <= 3 else 2
    return ".".join(labels[-label_count:])


class LeakCheck:
    """Sees every demonstration with its split; `verify` raises InputError when something held out is elsewhere too.

    Held out is what the rule says. What a plug-in puts into a split of held-out websites, categories, regions or
    instructors must have one that is not trained on, where they are known.
    """

    def __init__(self, rule: Rule, near_duplicates: Iterable[Group] = (), released: Mapping[str, str] | None = None):
        """`released`: the splits that demonstrations have in the previous release, which they keep."""
        self._rule, self._released = rule, released or {}
        self._groups = {name: group for group in near_duplicates for name in group.ids}
        self._splits_by_value: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._trained: set[tuple[str, str]] = set()
        self._by_plugin: dict[tuple[str, frozenset[str]], str] = {}

    def watch(self, sources: Iterable[Source]) -> Iterable[Source]:
        """Assign splits, and remember which held-out names went where."""
        for source in sources:
            group = self._groups.get(source.id)
            known = (self._released.get(name) for name in (source.id, *(group.ids if group else ())))
            source = self._rule.assign(source, group, next(filter(None, known), None))
            facts = self._rule.facts(source)
            for split, kind in SPLIT_FACTORS.items():
                names = facts.names(kind)
                for name in names:
                    if self._rule.is_held_out(split, name):
                        self._splits_by_value[kind, name].add(source.split)
                if source.split in _TRAINED:
                    self._trained |= {(kind, name) for name in names}
                elif self._rule.by and source.split == split and names and (kind != "instructor" or facts.vision):
                    self._by_plugin[kind, names] = split
            yield source

    def verify(self) -> None:
        """Raise InputError for the first leak there is."""
        for (kind, name), splits in sorted(self._splits_by_value.items()):
            if leaked := splits & _TRAINED:
                raise InputError(f"{kind} {name!r} is held out, but also occurs in {', '.join(sorted(leaked))}")
        for (kind, names), split in self._by_plugin.items():
            if all((kind, name) in self._trained for name in names):
                raise InputError(f"{kind} {', '.join(map(repr, sorted(names)))} is in {split} by the rule "
                                 f"{self._rule.by!r}, but also occurs in train")


def _saw_screen(source: Source) -> bool:
    """Whether the instructor saw the screen, as far as the recording says."""
    room = source.recording.manifest.get("room")
    return room is None or room["pictures"]
