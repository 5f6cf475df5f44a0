"""Reading a recording: its manifest, events, chat, resources and blobs. Never writes into it but to note a recovery."""

import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import zstandard
from filelock import lock_descriptor

from schemas import ChatLineSchema, EventSchema, InputError, RecordingLayout, RecordingSchema, ResourceSchema, limits
from schemas.files import dump_json, read_inside, read_lines, read_versioned, write_atomically
from schemas.formats.agent_steps import AgentStepSchema
from schemas.formats.network import ChannelMessageSchema, ExchangeSchema
from schemas.formats.recording import ConsoleLineSchema
from schemas.types.agent_steps import AgentStep
from schemas.types.network import ChannelMessage, Exchange
from schemas.types.recordings import (
    ChatLine,
    ConsoleLine,
    Event,
    EventData,
    RecordingManifest,
    Resource,
    State,
)

from . import blobs
from .lost_blobs import LostBlobs

_MANIFEST = RecordingSchema()  # to be made takes longer than to read one
_LOCK_CHECKS = 8  # at the lock of a recording that may be live
_BASES = 4  # blobs that are kept in memory because others are made of them: one of each kind, and one more


class Recording:
    """One recording on disk.

    A recording whose recorder was killed is opened as `recovered`: what was flushed is read, the rest is lost. Lines of
    the journal that cannot be read are passed over (`broken_lines`). Raises InputError when the folder is not a
    recording or another file in it is broken.
    """

    def __init__(self, path: Path | str):
        self.layout = RecordingLayout(path)
        self.layout.require_regular_files()
        if not self.layout.manifest.is_file():
            raise InputError(f"{path}: not a recording (recording.json is missing); pass the folder that demotape "
                             "record wrote")
        self.manifest: RecordingManifest
        self.version: int
        self.manifest, self.version = read_versioned(self.layout.manifest, _MANIFEST, limits.RECORD)
        if self.manifest["status"] == "recording" and not self.is_live():
            self._mark_recovered()

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: all but the blobs that are held here."""
        return {name: value for name, value in self.__dict__.items() if name != "_base"}

    @property
    def id(self) -> str:
        return self.manifest["id"]

    @property
    def task(self) -> str:
        return self.manifest["task"]

    def loss(self, *, of_lines: bool = True) -> str:
        """What a kill cost, or lines that cannot be read, in a sentence; empty when nothing was lost.

        `of_lines`: whether the journal is to be read for the latter.
        """
        return "; ".join(filter(None, (self._loss_by_kill(), self._loss_by_damage() if of_lines else "")))

    def _loss_by_damage(self) -> str:
        if not self.broken_lines:
            return ""
        many = len(self.broken_lines)
        return (f"{many} line{'s' if many > 1 else ''} of {self.layout.events.name} cannot be read and "
                f"{'are' if many > 1 else 'is'} skipped, such as {next(iter(self.broken_lines.values()))}")

    def _loss_by_kill(self) -> str:
        if self.manifest["status"] != "recovered":
            return ""
        events = self.events
        if not events:
            return "its recorder was killed before the first event"
        last = max(event["time"] for event in events)
        loss = f"its recorder was killed; events after number {events[-1]['seq']} at {last:.1f} s are lost"
        if many := len(self.lost_blobs):
            loss += f"; blobs of {many} event{'s' * (many > 1)} are missing"
        return loss

    def is_live(self) -> bool:
        """Whether a recorder is still writing: it holds a lock on the journal for as long as it lives.

        Others who ask have the lock for a moment too, so it is tried a few times.
        """
        journal = self.layout.events
        mode = "r+b" if os.access(journal, os.W_OK) else "rb"  # on NFS only what was opened for writing can be locked
        try:
            with journal.open(mode) as file:
                for _ in range(_LOCK_CHECKS):
                    if lock_descriptor(file.fileno(), blocking=False):
                        return False
                    time.sleep(random.uniform(0.001, 0.01))
                return True
        except OSError:
            return False

    def raw_events(self, broken: dict[int, str] | None = None) -> Iterator[Event]:
        """Every event of the journal, in the order of the numbers.

        Raises InputError at a gap, or at a line that cannot be read. With `broken`, such lines are skipped, and why is
        added to `broken` by the number of the event.
        """
        if not self.layout.events.exists():
            return
        unread: dict[int, str] = {}
        after_gap: Event | None = None  # its number is too large: it counts if the next line has the following one
        missing = 0  # lines that are gone: numbers are ahead of lines by so many
        lines = read_lines(self.layout.events, EventSchema(), self.version, None if broken is None else unread)
        for count, event in enumerate(lines, 1):
            line, number = count + len(unread), event["seq"]
            if after_gap and number == after_gap["seq"] + 1:
                missing = number - line
                yield after_gap
            after_gap = None
            if number == line + missing:
                yield event
                continue
            reason = (f"{self.layout.events}, line {line}: field seq: {number} instead of {line + missing}; events are "
                      "missing or out of order")
            if broken is None:
                raise InputError(reason)
            broken[line + missing] = reason
            after_gap = event if number > line + missing else None
        if after_gap:
            yield after_gap
        if broken is not None:
            broken |= unread

    @property
    def events(self) -> list[Event]:
        """The events, each with its best screenshot: a later `screenshot` line is folded into the event it names."""
        return self._journal[0]

    @property
    def broken_lines(self) -> dict[int, str]:
        """Lines of the journal that cannot be read and are passed over: why, by their numbers."""
        return self._journal[1]

    @property
    def lost_blobs(self) -> dict[int, list[str]]:
        """Of a recovered recording, the fields of events whose blobs are missing, by the event's number.

        `events` has null in these fields of states; other events that consist of such a blob are left out.
        """
        return self._journal[2]

    @cached_property
    def _journal(self) -> tuple[list[Event], dict[int, str], dict[int, list[str]]]:
        events: list[Event] = []
        broken: dict[int, str] = {}
        better: dict[int, EventData] = {}
        lost = LostBlobs(self.layout)
        for event in self.raw_events(broken):
            if self.manifest["status"] == "recovered" and not lost.remove_from(event):
                continue
            if event["type"] == "screenshot":
                better[event["data"]["event"]] = event["data"]
            else:
                events.append(event)
        for event in events:
            if event["seq"] in better and event["state"]:
                data = better[event["seq"]]
                _better(event["state"], data)
        return events, broken, lost.fields

    def chat(self) -> list[ChatLine]:
        """Utterances typed while recording, in order."""
        if not self.layout.chat.exists():
            return []
        return list(read_lines(self.layout.chat, ChatLineSchema(), self.version))

    def agent_steps(self) -> list[AgentStep]:
        """Steps that an agent reported while recording, in the order in which they ended."""
        if not self.layout.agent_steps.exists():
            return []
        return list(read_lines(self.layout.agent_steps, AgentStepSchema(), self.version))

    def resources(self) -> list[Resource]:
        """Style sheets, images and fonts that the pages used."""
        if not self.layout.resources.exists():
            return []
        return list(read_lines(self.layout.resources, ResourceSchema(), self.version))

    def exchanges(self) -> list[Exchange]:
        """Requests with what came back, where they were kept, in the order in which they ended."""
        if not self.layout.network.exists():
            return []
        return list(read_lines(self.layout.network, ExchangeSchema(), self.version))

    def channel_messages(self) -> list[ChannelMessage]:
        """What WebSockets and EventSources carried, where that was kept, in order."""
        if not self.layout.messages.exists():
            return []
        return list(read_lines(self.layout.messages, ChannelMessageSchema(), self.version))

    def console(self) -> Iterator[ConsoleLine]:
        """What pages wrote to the console, where that was kept, much as it came: order by time."""
        if self.layout.console.exists():
            yield from read_lines(self.layout.console, ConsoleLineSchema(), self.version)

    def blob(self, sha256: str) -> bytes:
        """Bytes of a DOM, element table or screenshot, decompressed.

        Raises InputError when the blob is missing or its content does not have that SHA-256.
        """
        return self._blob(sha256, self._base)[1]

    @cached_property
    def _base(self) -> Callable[[str], blobs.Form]:
        return lru_cache(_BASES)(self._standing_alone)

    def _standing_alone(self, sha256: str) -> blobs.Form:
        def refuse(_: str) -> blobs.Form:
            raise InputError(f"{self.layout.blob(sha256)}: blob is damaged, it depends on more than one other blob")
        return self._blob(sha256, refuse)[0]

    def _blob(self, sha256: str, read_base: Callable[[str], blobs.Form]) -> tuple[blobs.Form, bytes]:
        path = self.layout.blob(sha256)
        try:
            form = blobs.decompress(read_inside(path, limits.BLOB, self.layout.root), read_base)
            content = form.content
        except FileNotFoundError:
            raise InputError(f"{path}: blob is missing") from None
        except (zstandard.ZstdError, ValueError, OSError) as error:
            raise InputError(f"{path}: blob cannot be read ({error})") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise InputError(f"{path}: blob is damaged, its SHA-256 is not its name")
        return form, content

    def _mark_recovered(self) -> None:
        self.manifest["status"] = "recovered"
        if self.version != self.manifest["version"]:
            return  # the manifest says which version its lines are of; that of an old recording is never rewritten
        with suppress(OSError):  # a full or read-only disk: it will be noted another time
            write_atomically(self.layout.manifest, dump_json(RecordingSchema().dump(self.manifest)))


def _better(state: State, data: EventData) -> None:
    """Put a better screenshot into a state, with what is said of it."""
    state |= {"screenshot": data["screenshot"], "screenshot_time": data["screenshot_time"]}
    state["stale"] = "stale_because" in data
    if "stale_because" in data:
        state["stale_because"] = data["stale_because"]
    if "unchanged_until" in data:
        state["unchanged_until"] = data["unchanged_until"]
    state.pop("screenshot_agrees", None)
    if "screenshot_agrees" in data:
        state["screenshot_agrees"] = data["screenshot_agrees"]
