"""Generated lines of network.jsonl and console.jsonl, with a secret in every possible position."""

from recorder.writer import RecordingWriter
from tests.support.curator.curator_fixtures import HOSTILE, turns

SECRET = "s3cret-word"


def exchange(number: int, time: float, **changes) -> dict:
    """A request that was answered."""
    return {"seq": number, "time": time, "duration": 0.25, "tab": 1, "kind": "fetch", "top": False, "method": "POST",
            "url": f"https://ann:{SECRET}@air.example/seats?token={SECRET}",
            "headers": [{"name": "Cookie", "value": SECRET}], "body": None, "status": 200, "status_text": "OK",
            "answer_headers": [{"name": "Content-Type", "value": "application/json; charset=utf-8"},
                               {"name": "Content-Length", "value": "42000"}],
            "answer_body": None, "failure": ""} | changes


def console_line(time: float, **changes) -> dict:
    """What a page wrote."""
    return {"time": time, "tab": 1, "url": f"https://air.example/seats?token={SECRET}", "kind": "call", "level": "log",
            "text": "3 seats", "script": f"https://air.example/app/seats.js?token={SECRET}", "line": 12,
            "column": 4} | changes


def turns_with_network(writer: RecordingWriter) -> list[dict]:
    """The six turns: after t2 nothing was asked for, after t3 what is hostile, after t4 a great deal."""
    hostile = HOSTILE[:-1]
    lines = [exchange(1, 1.5), exchange(2, 3.2), exchange(
        3, 3.5, method="GET", url=f"https://air.example/{hostile}", status=0, failure=hostile,
        answer_headers=[{"name": "content-type", "value": hostile}]), exchange(4, 3.6, status=404)]
    writer.open_network()
    for each in (*lines, *(exchange(number, 4 + number / 1000) for number in range(5, 155))):
        writer.network(each)
    return turns(writer)


def turns_with_console(writer: RecordingWriter) -> list[dict]:
    """The same, with what pages wrote: after t3 what is hostile and errors, after t4 a great deal, after t2 nothing."""
    writer.open_console()
    error = console_line(3.3, kind="uncaught", level="error", text="Uncaught Error: boom\n    at seats.js:12:4", tab=2)
    lines = [console_line(1.0), console_line(3.4, level="warning", text=HOSTILE, script=HOSTILE), error,
             console_line(3.5, text="x" * 2000, script="data:text/javascript," + "y" * 1000),
             console_line(3.6, kind="browser", level="error", text="Failed to load resource: 404 (Not Found)")]
    del lines[-1]["line"], lines[-1]["column"]
    for each in (*lines, *(console_line(4 + number / 1000, text=f"line {number}") for number in range(150))):
        writer.console(each)
    return turns_with_network(writer)
