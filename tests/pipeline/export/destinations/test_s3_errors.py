"""Answers of S3 that break off: told as a service that does not answer, so that whoever waits tries again."""

import socket
import threading
from collections.abc import Iterator

import pytest

from pipeline.export.destinations.s3_errors import NoAnswer, explain_errors
from pipeline.export.destinations.s3_objects import Bucket

BEGINNING = {404: b"HTTP/1.1 404 Not Found\r\nContent-Length: 200\r\n\r\n<Error><Code>NoSuchKey",
             503: b"HTTP/1.1 503 Slow Down\r\nContent-Length: 200\r\n\r\n<Error>",
             200: b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n<ListBucketResult>"}


@pytest.fixture(params=["stalls", "ends"])
def service(request, monkeypatch) -> Iterator[tuple[str, dict[str, bytes], str]]:
    """Its address, what it answers, and whether that then stalls or ends."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    told, server, held = {"answer": b""}, socket.create_server(("127.0.0.1", 0)), []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            connection.recv(65536)
            connection.sendall(told["answer"])
            held.append(connection)
            if request.param == "ends":
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}", told, request.param
    server.close()
    for connection in held:
        connection.close()


@pytest.mark.parametrize("status", BEGINNING)
def test_an_answer_that_breaks_off_is_none(service, status):
    address, told, how = service
    if (status, how) == (404, "ends"):
        return  # it is not there, whatever else was to be said
    told["answer"] = BEGINNING[status]
    bucket = Bucket("s3://shelf/prefix", address, 1, (1, 0.3))
    for ask in (lambda: b"".join(bucket.read("name")), lambda: list(bucket.folders("folder")),
                lambda: bucket.put("name", b"content", "")):
        with pytest.raises(NoAnswer), explain_errors("s3://shelf/prefix"):
            ask()
