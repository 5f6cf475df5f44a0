"""The bundled third-party site of the demo: pages of the `miniwob` package, served on loopback."""

import functools
import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pipeline import extras

_SEED = "23"  # makes the airline ask for the flight that the demo's chat is about


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments, appended: Mapping[str, str], **options):
        self._appended = appended
        super().__init__(*arguments, **options)

    def do_GET(self):
        text = self._appended.get(self.path)
        if text is None:
            super().do_GET()
            return
        body = Path(self.translate_path(self.path)).read_bytes() + text.encode()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A browser that goes on to another page hangs up; that is nobody's fault."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def miniwob_folder() -> Path:
    """Folder of miniwob's pages; raises InputError when the package is not installed."""
    extras.require("demo")
    spec = importlib.util.find_spec("miniwob")  # importing it takes seconds
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "html"


@contextmanager
def serve_airline() -> Iterator[str]:
    """Serve miniwob's pages, whose airline asks for the same flight each time, also in a replay: the seed is in what
    the page loads. Yields as `serve`."""
    with serve(miniwob_folder(), {"/core/core.js": f'\nMath.seedrandom("{_SEED}");\n'}) as site:
        yield site


@contextmanager
def serve(folder: Path, appended: Mapping[str, str] | None = None) -> Iterator[str]:
    """Serve a folder on a free loopback port; yields its address without a trailing slash. `appended`: texts that are
    served at the end of files, by their path, such as `/core/core.js`."""
    server = _Server(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder), appended=appended or {}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
