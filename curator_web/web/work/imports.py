"""Packages dropped on the page: kept under a name of our own, then received, processed and imported as jobs."""

import os
import secrets

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug import Response
from werkzeug.datastructures import FileStorage

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.jobs.upload_service import KIND
from schemas import limits

blueprint = Blueprint("imports", __name__)
FILES_LIMIT = 100
NAME_LENGTH = 100
PIECE = 1 << 20
_ZIP = b"PK\x03\x04"  # how a package begins


@blueprint.get("/import")
def show() -> str:
    """The place to drop packages on, and what became of those before; asked by htmx, only these."""
    return _jobs() if request.headers.get("HX-Request") else _page([])


def _jobs() -> str:
    return render_template("shell/_jobs.html", jobs=services().jobs.latest(KIND, account().project),
                           here=url_for(".show"))


def _page(refused: list[str]) -> str:
    jobs = services().jobs.latest(KIND, account().project)
    return render_template("work/import.html", jobs=jobs, here=url_for(".show"), limit=limits.size(limits.UPLOAD),
                           takes=services().uploads is not None, refused=refused)


@blueprint.post("/import")
def receive() -> Response:
    """Take packages and begin to import them; those that are none are named, and keep no other from being taken."""
    if services().uploads is None:
        raise NotFound(ErrorText("this review app does not accept packages; use demotape import"))
    services().store.files.require_room(2 * (request.content_length or 0))  # as it comes, and kept
    files = [file for file in request.files.getlist("package") if file.filename]
    if not 0 < len(files) <= FILES_LIMIT:
        raise InputError(ErrorText("field package: choose 1 to %(files_limit)s packages (zip files) first",
                                   files_limit=FILES_LIMIT))
    caller, refused = account(), list[str]()
    for file in files:
        name = _shown(file.filename or "")
        if file.stream.read(len(_ZIP)) != _ZIP:
            refused.append(f"{name}: not a zip file")
            continue
        services().jobs.add(KIND, caller.name, {"file": _store(file), "name": name, "who": caller.name},
                            project=caller.project)
    if len(refused) == len(files):
        raise InputError(ErrorText("nothing was imported; %(which)s", which="; ".join(refused)))
    if request.headers.get("HX-Request"):
        return make_response(render_template("work/_refused.html", refused=refused) + _jobs())
    if refused:
        return make_response(_page(refused))
    return redirect(url_for(".show"), 303)


# Told to accounts.py, which lets so much through once it is known who sends it.
receive.takes_up_to = limits.UPLOAD  # type: ignore[attr-defined]  # a mark on the view


def _store(file: FileStorage) -> str:
    """Write the package under a name that the sender has no say in; returns the name."""
    file.stream.seek(0)
    name, store = f"uploads/dropped-{secrets.token_hex(12)}.zip", services().store
    with store.temporary.file() as (stored, temporary):
        file.save(stored, PIECE)
        stored.flush()
        os.fsync(stored.fileno())
        store.files.save(name, temporary)
    return name


def _shown(filename: str) -> str:
    """The sender's name for the file, to tell it from others; it never becomes a path."""
    return "".join(c for c in filename.replace("\\", "/").rpartition("/")[2] if c.isprintable())[:NAME_LENGTH]
