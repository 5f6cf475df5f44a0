"""A server that responds like a language model's endpoint, from a table."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What is answered: a code, a body, headers; `drip`: a byte of the body each so many seconds, without end."""

    code: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0


def said(text: Any, end: str = "stop", **more: Any) -> Answer:
    """A chat completion; `more`: what it tells besides, such as `usage`."""
    return Answer(body=json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text},
                                                "finish_reason": end}]} | more).encode())


class ModelServer:
    """Answers one after the other, the last one for ever, or what `choose` makes of the body; `got`: what was sent
    (path, headers, body)."""

    def __init__(self, answers: Sequence[Answer], choose: Callable[[Any], Answer] | None = None):
        self.answers, self.got, self.ended = list(answers), list[tuple[str, dict[str, str], Any]](), threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                model.got.append((self.path, headers, json.loads(body)))
                if choose:
                    answer = choose(model.got[-1][2])
                else:
                    answer = model.answers.pop(0) if len(model.answers) > 1 else model.answers[0]
                self.send_response(answer.code)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)
                while answer.drip and not model.ended.is_set():
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        break
                    time.sleep(answer.drip)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def model_server(*answers: Answer, choose: Callable[[Any], Answer] | None = None) -> Iterator[ModelServer]:
    """One that is there for a while."""
    server = ModelServer(answers or (Answer(500),), choose)
    try:
        yield server
    finally:
        server.close()
