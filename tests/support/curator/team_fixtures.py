"""A review app with signed-in users."""

import re
from functools import cache

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.security import generate_password_hash

from curator_web.db.database import Database
from curator_web.db.models.core import User
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.users import Account, add_user

from .edits import edit

PASSWORD = "correct horse battery"
ANN, BOB, VAL, WIM, LEA = people = tuple(
    Account(name, role) for name, role in (("ann", "annotator"), ("bob", "annotator"), ("val", "validator"),
                                           ("wim", "validator"), ("lea", "lead")))


@cache
def _hashed() -> str:
    """By scrypt, but in a moment: many tests sign in."""
    return generate_password_hash(PASSWORD, method="scrypt:256:8:1")


def add_people(app: Flask) -> dict[str, str]:
    """Make them all; returns their tokens by name."""
    db = app.extensions["demotape"].db
    tokens = {each.name: add_user(db, each.name, each.role) for each in people}
    with db.writing() as session:
        session.execute(update(User).values(password_hash=_hashed()))
    return tokens


def say(db: Database, name: str, account: Account, *edits: dict) -> None:
    """Make these edits of the newest version of a demonstration."""
    for each in edits:
        edit(db, name, each, library.listed(db, name).version, account)


def give(db: Database, name: str, account: Account, status: str = "submitted") -> None:
    """Give the newest version of a demonstration a status."""
    change_status(db, name, status, library.listed(db, name).version, account)


def csrf(client: FlaskClient, address: str = "/sign-in") -> str:
    """The token that a page's forms carry."""
    return re.search(r'name="csrf_token" value="([^"]+)"', client.get(address).text)[1]


def signed_in(app: Flask, name: str, password: str = PASSWORD) -> FlaskClient:
    """A browser in which somebody has signed in."""
    client = app.test_client()
    answer = client.post("/sign-in", data={"csrf_token": csrf(client), "name": name, "password": password})
    assert answer.status_code == 303, answer.text
    return client
