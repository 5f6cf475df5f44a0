"""The bundled third-party site of the demo: pages of the `miniwob` package, served on loopback."""

import functools
import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pipeline import extras


class _Quiet(SimpleHTTPRequestHandler):
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
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free loopback port; yields its address without a trailing slash."""
    server = _Server(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
