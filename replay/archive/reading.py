"""A recording's own network as an archive."""

from functools import partial
from pathlib import Path

from recorder.reader import Recording
from schemas import InputError
from schemas.types.network import ChannelMessage, Exchange, Header

from .exchanges import Archive, Channel, Headers, Message, Recorded
from .har_reading import read_har


def read_archive(path: Path) -> Archive:
    """The network of a recording, or of a HAR 1.2, WARC or WACZ that any program made; raises InputError."""
    if not path.is_file():
        return read_recording(Recording(path))
    if not path.name.endswith((".wacz", ".warc", ".warc.gz")):
        return read_har(path)
    from .warc import reading as warc_reading

    return warc_reading.read_wacz(path) if path.suffix == ".wacz" else warc_reading.read_warc(path)


def read_recording(recording: Recording) -> Archive:
    """The network that a recording kept; raises InputError when it kept none, or what it kept cannot be read."""
    if not recording.layout.network.exists():
        raise InputError(f"{recording.layout.root}: its network was not recorded, so it cannot be served; record "
                         "with --replayable")
    return archive_of(recording)


def archive_of(recording: Recording) -> Archive:
    """The network that a recording kept, which may be nothing, in the order in which it was asked for."""
    lines = sorted(recording.exchanges(), key=lambda line: (line["time"], line["seq"]))
    exchanges = tuple(_exchange(recording, number, line) for number, line in enumerate(lines, 1))
    return Archive(exchanges, _channels(recording), recording.manifest["started_at"].timestamp())


def _exchange(recording: Recording, number: int, line: Exchange) -> Recorded:
    body, answer_body = line["body"], line["answer_body"]
    return Recorded(
        number, line["time"], line["method"], line["url"], line["status"],
        partial(recording.blob, answer_body) if answer_body else _nothing, _headers(line["answer_headers"]),
        _headers(line["headers"]), recording.blob(body) if body else None, line["kind"], line["top"],
        line["status_text"], line["failure"], line["tab"], line.get("seed"), "charset" not in line,
        line.get("charset", ""), line["duration"])


def _nothing() -> bytes | None:
    return None


def _headers(lines: list[Header]) -> Headers:
    return tuple((line["name"], line["value"]) for line in lines)


def _channels(recording: Recording) -> tuple[Channel, ...]:
    opened: dict[int, tuple[float, str, str]] = {}
    carried: dict[int, list[Message]] = {}
    protocols: dict[int, str] = {}
    for line in recording.channel_messages():
        number = line["channel"]
        if line["direction"] == "open":
            opened[number] = line["time"], line["kind"], line.get("url", "")
        elif line["direction"] == "accepted":
            protocols[number] = line.get("protocol", "")
        else:
            carried.setdefault(number, []).append(_message(recording, line))
    return tuple(Channel(number, *opened[number], tuple(messages := carried.get(number, [])), protocols.get(number),
                         number not in protocols and _is_refused(messages)) for number in sorted(opened))


def _is_refused(messages: list[Message]) -> bool:
    """Whether a WebSocket that no server accepted was refused: recordings that have the code of its end say so."""
    return len(messages) == 1 and messages[0].direction == "close" and messages[0].code is not None


def _message(recording: Recording, line: ChannelMessage) -> Message:
    data = recording.blob(line["blob"]) if "blob" in line else line.get("text", "")
    return Message(line["time"], line["direction"], data, line.get("event", ""), line.get("id", ""), line.get("code"),
                   line.get("reason", ""), line.get("by_page", False))
