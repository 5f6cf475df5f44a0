"""Writes the network: network.har for other tools, network.jsonl and messages.jsonl for replays."""

import json
import os
import time
from collections import defaultdict, deque
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recorder.privacy.channel_event import ChannelEvent
from recorder.privacy.exchange_lines import line, stored_line
from recorder.privacy.har import Exchange, entry, secrets_of
from recorder.privacy.secret_values import Secrets
from recorder.privacy.stand_ins import StandIns
from recorder.writer import RecordingWriter
from schemas.files import open_private

HOLD = 2.0  # seconds in which a page that has got an answer shows, and so tells, what in it is secret
_HAR_END = b"\n]}}\n"


class NetworkLog:
    """Takes exchanges and messages as they end and writes them once their page has told what in them is secret.

    `submit` hands a job to the writer's thread; `recorded_time` tells when a moment of the wall clock is in the
    recording, None when nothing is kept then.
    """

    def __init__(self, secrets: Secrets, submit: Callable[[Callable[[], None]], None],
                 recorded_time: Callable[[float], float | None]):
        self._secrets = secrets
        self._stand_ins = StandIns(secrets)
        self._submit = submit
        self._kept_at = recorded_time
        self._pending: deque[tuple[float, float, Exchange | ChannelEvent]] = deque()
        self._seeds: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)  # frame -> wall clock, seed
        self._channels: dict[int, int] = {}  # their numbers in this recording
        self._har: HarFile | None = None
        self._replayable = False
        self._lines = 0

    def begin(self, writer: RecordingWriter, options: dict[str, Any], browser: str) -> None:
        """Open what the options ask for; `browser`: its name and version."""
        self._writer = writer
        if options.get("har"):
            self._har = HarFile(writer.layout.har, browser, version("demotape"))
        if options.get("replayable"):
            self._replayable = True
            writer.open_network()

    def exchange(self, exchange: Exchange) -> None:
        """A request has ended. What is secret in it is so from now on, wherever it stands."""
        if (recorded_at := self._kept_at(exchange.start)) is not None:
            self._submit(lambda: self._secrets.learn(secrets_of(exchange)))
            self._pending.append((time.monotonic() + HOLD, recorded_at, exchange))

    def channel_event(self, event: ChannelEvent) -> None:
        """A WebSocket or an EventSource carried something."""
        if (recorded_at := self._kept_at(event.epoch)) is not None:
            self._pending.append((time.monotonic() + HOLD, recorded_at, event))

    def browser_environment(self, environment: dict[str, Any]) -> None:
        """What the browser held when the recording started: the values that may be secret are replaced."""
        self._secrets.learn(cookie["value"] for cookie in environment["cookies"])
        self._submit(lambda: self._writer.update(browser_at_start=stored_line(environment, self._stand_ins)))

    def seed(self, frame: str, epoch: float, seed: int) -> None:
        """A document of a frame has begun to run with what is random in it from that seed."""
        self._seeds[frame].append((epoch, seed))

    def release(self, *, all_: bool = False) -> None:
        """Write those that have waited long enough."""
        while self._pending and (all_ or self._pending[0][0] <= time.monotonic()):
            _, recorded_at, happened = self._pending.popleft()
            if isinstance(happened, Exchange):
                self._submit_exchange(happened, recorded_at)
            elif self._replayable:
                self._submit_message(happened, recorded_at)

    def close(self) -> None:
        """Close the HAR; called when the writer's thread has ended."""
        if self._har:
            self._har.close()

    def _submit_exchange(self, exchange: Exchange, recorded_at: float) -> None:
        if har := self._har:
            self._submit(lambda: har.append(entry(exchange, self._secrets)))
        if self._replayable:
            if exchange.document:
                exchange.seed = next((seed for epoch, seed in self._seeds[exchange.document]
                                      if epoch >= exchange.start), None)
            self._submit(lambda: self._write_exchange(exchange, recorded_at))

    def _submit_message(self, event: ChannelEvent, recorded_at: float) -> None:
        number = self._channels.setdefault(event.channel, len(self._channels) + 1)
        self._submit(lambda: self._write_message(event, number, recorded_at))

    def _write_exchange(self, exchange: Exchange, recorded_at: float) -> None:
        fields, sent, received = line(exchange, self._stand_ins)
        fields["body"] = None if sent is None else self._writer.blob(sent)
        fields["answer_body"] = None if received is None else self._writer.blob(received)
        self._writer.network({"seq": self._lines + 1, "time": recorded_at, **fields})
        self._lines += 1  # written: one that could not be leaves no gap

    def _write_message(self, event: ChannelEvent, number: int, recorded_at: float) -> None:
        fields: dict[str, Any] = {"time": recorded_at, "tab": event.tab, "channel": number, "kind": event.kind,
                                "direction": event.direction}
        if event.direction == "open":
            fields["url"] = self._stand_ins.in_address(event.url)
        elif isinstance(event.data, bytes):
            fields["blob"] = self._writer.blob(event.data)
        elif event.direction == "accepted":
            fields["protocol"] = self._stand_ins.in_text(event.protocol)
        elif event.direction == "close":
            fields |= {} if event.code is None else {
                "code": event.code, "reason": self._stand_ins.in_text(event.reason), "by_page": event.by_page}
        else:
            fields["text"] = self._stand_ins.in_body(event.data, "application/json")
        fields |= {name: self._stand_ins.in_text(value) for name, value in (("event", event.event), ("id", event.id))
                 if value}
        self._writer.message(fields)


class HarFile:
    """The file network.har: complete after each entry, also after a kill."""

    def __init__(self, path: Path, browser: str, program_version: str):
        head = {"log": {"version": "1.2", "creator": {"name": "demotape", "version": program_version},
                        "browser": {"name": browser.partition(" ")[0], "version": browser.partition(" ")[2]},
                        "pages": [], "entries": []}}
        self._file = open_private(path, "xb")
        self._file.write(json.dumps(head).removesuffix("]}}").encode())
        self._end = self._file.tell()
        self._file.write(_HAR_END)
        self._has_entries = False

    def append(self, har_entry: dict[str, Any]) -> None:
        """One write that overwrites the closing brackets by the entry and new ones."""
        text = (b",\n" if self._has_entries else b"\n") + json.dumps(har_entry).encode()
        self._file.seek(self._end)
        self._file.write(text + _HAR_END)
        self._end += len(text)
        self._has_entries = True

    def close(self) -> None:
        """Sync and close."""
        os.fsync(self._file.fileno())
        self._file.close()
