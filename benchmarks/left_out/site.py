"""A site whose pages each have a word of their own in every place where a page can have one."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

_HOME = """<!DOCTYPE html><title>Offers</title><style>a {{ display: block; margin: 12px }}</style><h1>Offers</h1>
{links}<input id=search><button id=go onclick="fetch('/search', {{method: 'POST', body: search.value}})">Go</button>"""
_PAGE = """<!DOCTYPE html><title>Title {word}</title><meta name=description content="meta {word}">
<link rel=stylesheet href="/style.css?w={word}"><h1 data-x="attribute {word}">Page {word}</h1><!-- comment {word} -->
<a id=home href="/">Home</a><label>Name <input id=name placeholder="hint {word}"></label>
<button id=send onclick="fetch('/api', {{method: 'POST', headers: {{'X-Word': 'header {word}'}},
 body: JSON.stringify({{sent: field.value, word: 'body {word}'}})}}).then(answer => answer.json())
 .then(value => {{ document.title = value.title; console.log('console {word}') }})">Send</button>
<button id=ask onclick="alert('dialog {word}')">Ask</button>
<script>const field = document.getElementById('name');
history.replaceState(null, '', '/page/{number}?w={word}#h{word}');
fetch('/stored?w={word}'); localStorage.setItem('stored', '{word}'); document.cookie = 'seen={word}'</script>"""


class _Handler(BaseHTTPRequestHandler):
    words: tuple[str, ...]

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        word = parse_qs(address.query).get("w", [""])[0]
        if address.path == "/":
            links = "".join(f"<a id=to{number} href='/open/{number}'>Offer {number}</a>"
                            for number in range(len(self.words)))
            self._answer(_HOME.format(links=links))
        elif address.path.startswith("/open/"):
            number = int(address.path.rpartition("/")[2])
            self._answer("", status=302, headers={"Location": f"/page/{number}?w={self.words[number]}"})
        elif address.path.startswith("/page/"):
            number = int(address.path.rpartition("/")[2])
            self._answer(_PAGE.format(number=number, word=self.words[number]))
        elif address.path == "/style.css":
            self._answer(f"h1::after {{ content: 'style {word}' }}", kind="text/css")
        else:
            self._answer(json.dumps({"stored": f"stored {word}"}), kind="application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        word = json.loads(body)["word"].split()[1] if body.startswith(b"{") else body.decode()
        self._answer(json.dumps({"title": f"answer {word}"}), kind="application/json",
                     headers={"X-Back": f"back {word}"})

    def _answer(self, text: str, status: int = 200, kind: str = "text/html; charset=utf-8",
                headers: Mapping[str, str] = MappingProxyType({})) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def serve(words: tuple[str, ...]) -> Iterator[str]:
    """Serve the site with a page for each word; yields its origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"words": words}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
