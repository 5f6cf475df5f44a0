"""Forks a process for every command that `warm` requests; third-party packages are preloaded, demotape's are not."""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
import types

# What the commands import of others' packages; what is not there is imported by nobody.
THEIRS = (
    "alembic.autogenerate", "alembic.context", "alembic.op", "av", "click", "cryptography.fernet", "cv2", "filelock",
    "flask", "flask_login", "flask_smorest", "flask_wtf.csrf", "imagesize", "importlib.metadata", "lxml.html",
    "marshmallow", "multiprocessing.spawn", "numpy", "phonenumbers", "playwright.async_api", "pyarrow.parquet",
    "pygments", "pyotp", "re2", "rich.console", "rich.progress", "rich.table", "spellchecker",
    "sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.sqlite", "sqlalchemy.orm", "stdnum", "tinycss2", "turbohtml",
    "werkzeug.security", "zstandard",
)


def command(asked: socket.socket) -> tuple[str, dict]:
    """Wait for commands; returns only in the process that is to run one: its program and its variables."""
    while True:
        message, (given, out, err), _, _ = socket.recv_fds(asked, 16, 3)
        text = b""
        while len(text) < int(message):
            text += asked.recv(int(message) - len(text))
        told = json.loads(text)
        if (pid := os.fork()) == 0:
            asked.close()
            return told["program"], prepared(told, (given, out, err))
        for each in (given, out, err):
            os.close(each)
        asked.sendall(b"%16d" % pid)
        _, status = os.waitpid(pid, 0)
        asked.sendall(b"%16d" % os.waitstatus_to_exitcode(status))


def prepared(told: dict, files: tuple[int, int, int]) -> dict:
    """Make this process like a new interpreter that was given the program; returns the variables of its main module."""
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.path[:0] = ["", *told["path"]]
    sys.argv = ["-c", *told["arguments"]]
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    return vars(main)


if __name__ == "__main__":
    del sys.path[0]  # this folder
    for name in THEIRS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    ours = {"schemas", "recorder", "pipeline", "curator_web", "demotape", "extension", "tests"}
    assert not ours & {name.partition(".")[0] for name in sys.modules}
    gc.freeze()
    program, variables = command(socket.socket(fileno=int(sys.argv[1])))
    exec(compile(program, "<string>", "exec"), variables)
