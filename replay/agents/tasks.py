"""Recorded tasks with their splits: what trainers choose from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.export.assigning import splits_of
from pipeline.export.releases import NoExport, read_export
from recorder.reader import Recording
from replay.archive.exchanges import Archive
from replay.archive.reading import read_recording
from schemas import InputError
from schemas.files import read_json
from schemas.formats.outcome import OutcomeSchema
from schemas.types.outcome import Outcome
from schemas.types.recordings import Element, State

from .environment import start_of

ALL = "all"  # the split with every task


@dataclass(frozen=True)
class RecordedTask:
    """A recorded task: its recording, the outcome checks that score it, and its split."""

    recording: Recording
    outcome: Outcome
    split: str = "train"
    start_url: str = field(init=False)
    first: State | None = field(init=False)

    def __post_init__(self) -> None:
        start, first = start_of(self.recording)
        object.__setattr__(self, "start_url", start)
        object.__setattr__(self, "first", first)

    @property
    def id(self) -> str:
        """Name of the recording's folder."""
        return self.recording.layout.root.resolve().name

    @property
    def goal(self) -> str:
        """What the agent is asked to do."""
        return self.recording.task

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the instructor said, in order."""
        return [{"time": line["time"], "speaker": line["speaker"], "utterance": line["utterance"]}
                for line in self.recording.chat() if line["speaker"] == "instructor"]

    @cached_property
    def archive(self) -> Archive:
        """The recorded network, read once. Raises InputError for a recording that was not made with --replayable."""
        return read_recording(self.recording)

    @cached_property
    def recorded_elements(self) -> dict[str, Element]:
        """Elements that the recorded person acted on, by uid."""
        events = (event["target"] for event in self.recording.events)
        return {target["uid"]: target for target in events if target}

    @property
    def facts(self) -> dict[str, Any]:
        """What a catalogue of tasks says of it."""
        return {"id": self.id, "goal": self.goal, "start_url": self.start_url, "split": self.split,
                "difficulty": self.outcome.get("difficulty", "")}


class TaskSet:
    """Tasks by split. Raises InputError for two recordings of one name."""

    def __init__(self, tasks: Sequence[RecordedTask]):
        self._by_split: dict[str, list[RecordedTask]] = {ALL: sorted(tasks, key=lambda task: task.id)}
        for task in self._by_split[ALL]:
            self._by_split.setdefault(task.split, []).append(task)
        names = [task.id for task in tasks]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"{twice}: two recordings have this name; rename one of the folders")

    @property
    def splits(self) -> list[str]:
        """Names of the splits that have tasks, then `all`."""
        return [*(name for name in self._by_split if name != ALL), ALL]

    def tasks(self, split: str = ALL) -> list[RecordedTask]:
        """The tasks of a split, sorted by id. Raises IndexError, naming the splits, for an unknown one."""
        if split not in self._by_split:
            raise IndexError(f"unknown split {str(split)[:40]!r}; splits: {', '.join(self.splits)}")
        return self._by_split[split]

    def task(self, split: str = ALL, index: int = 0) -> RecordedTask:
        """A task by its place in a split. Raises IndexError."""
        tasks = self.tasks(split)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(tasks):
            raise IndexError(f"no task {str(index)[:20]} in split {split}; it has {len(tasks)}, numbered from 0")
        return tasks[index]


def read_task(path: Path, split: str = "train") -> RecordedTask:
    """The task of a recording. Raises InputError for one that is not replayable or has no outcome checks."""
    recording = Recording(path)
    if not recording.layout.network.exists():
        raise InputError(f"{path}: its network was not recorded, so it cannot be served; record with --replayable")
    if not recording.layout.outcome.exists():
        raise InputError(f"{recording.layout.outcome}: has no outcome checks; propose some with: demotape outcome "
                         f"{path} --propose")
    outcome: Outcome = read_json(recording.layout.outcome, OutcomeSchema())
    return RecordedTask(recording, outcome, split)


def read_task_set(recordings: Sequence[Path], export: Path | None = None) -> TaskSet:
    """The tasks of recordings, with the splits of an `export`. Raises InputError for the first that is none, and for an
    export that has none of them."""
    splits = _splits(export) if export else {}
    tasks = [read_task(path, splits.get(path.resolve().name, "train")) for path in recordings]
    if export and not splits.keys() & {task.id for task in tasks}:
        raise InputError(f"{export}: none of these recordings is in this export")
    return TaskSet(tasks)


def _splits(export: Path) -> dict[str, str]:
    """The split of each demonstration of an export, by id."""
    try:
        return splits_of(read_export(export))
    except NoExport:
        raise InputError(f"{export}: is no export") from None
