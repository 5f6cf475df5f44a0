"""How often one may try to sign in: counted before it is tried, alike for names that exist and for others."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update

from curator_web.db.models.core import SignInAttempts
from curator_web.errors import Busy, NotSignedIn, TooManyAttempts
from curator_web.users import SignInAttemptLimits, check_password, passwords, sign_in_attempts
from curator_web.users.sign_in_attempts import AT_ONE_NAME, COUNT_FOR, FROM_ONE_ADDRESS
from tests.support.curator.team_fixtures import PASSWORD, csrf, signed_in

pytestmark = pytest.mark.postgresql

KEY = b"a key"


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The passwords that were compared with a hash."""
    found = []
    monkeypatch.setattr(passwords, "is_right", lambda kept, password: found.append(password) or password == PASSWORD)
    return found


def attempt(db, name: str, password: str = "wrong", address: str = "192.0.2.1", browser: str | None = None) -> str:
    try:
        return check_password(db, SignInAttemptLimits(db, KEY), name, password, address, browser).name
    except (NotSignedIn, TooManyAttempts) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", ["ann", "nobody", "a typed password!"])
def test_of_a_thousand_at_once_ten_are_tried(db, looked_at, name):
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda number: attempt(db, name, "wrong", f"192.0.{number // 250}.{number % 250}"),
                             range(1000)))
    assert len(looked_at) == told.count("NotSignedIn") == AT_ONE_NAME
    assert told.count("TooManyAttempts") == 1000 - AT_ONE_NAME
    assert attempt(db, name, PASSWORD, "198.51.100.1") == "TooManyAttempts"


def test_all_names_together_are_counted_by_address(db, looked_at):
    told = [attempt(db, f"name-{number}") for number in range(FROM_ONE_ADDRESS + 5)]
    assert told == ["NotSignedIn"] * FROM_ONE_ADDRESS + ["TooManyAttempts"] * 5
    assert attempt(db, "ann", PASSWORD) == "TooManyAttempts" and attempt(db, "ann", PASSWORD, "192.0.2.2") == "ann"


def test_addresses_of_one_ipv6_network_are_one(db, looked_at):
    told = {attempt(db, f"name-{number}", address=f"2001:db8::{number:x}") for number in range(1, FROM_ONE_ADDRESS + 1)}
    assert told == {"NotSignedIn"}
    assert attempt(db, "ann", PASSWORD, "2001:db8::ffff:1") == "TooManyAttempts"
    assert attempt(db, "ann", PASSWORD, "2001:db8:0:1::1") == "ann"


def test_a_right_password_begins_anew_and_costs_the_address_nothing(db, looked_at):
    for _ in range(7):
        assert [attempt(db, "ann") for _ in range(AT_ONE_NAME - 3)] == ["NotSignedIn"] * (AT_ONE_NAME - 3)
        assert attempt(db, "ann", PASSWORD) == "ann"
    assert attempt(db, "bob") == "NotSignedIn" and attempt(db, "bob") == "TooManyAttempts"


def test_after_a_while_one_may_try_again(db, looked_at):
    told = [attempt(db, "ann") for _ in range(AT_ONE_NAME + 1)]
    assert told[-1] == "TooManyAttempts"
    with db.writing() as session:
        session.execute(update(SignInAttempts).values(since=datetime.now(UTC) - COUNT_FOR))
    assert attempt(db, "ann", PASSWORD) == "ann"
    with db.writing() as session:
        session.execute(update(SignInAttempts).values(since=datetime.now(UTC) - COUNT_FOR))
    SignInAttemptLimits(db, KEY).forget_old()
    with db.reading() as session:
        assert session.scalars(select(SignInAttempts)).all() == []


def test_nothing_that_was_typed_is_kept(db, looked_at):
    attempt(db, "my password in the wrong field")
    with db.reading() as session:
        kept = session.scalars(select(SignInAttempts)).all()
    assert len(kept) == 2 and all(len(bytes.fromhex(row.key)) == 32 for row in kept)


def test_nobody_is_locked_out_of_a_browser_that_is_known(app):
    def send(client, password):
        return client.post("/sign-in", data={"csrf_token": csrf(client), "name": "ann", "password": password})
    known = signed_in(app, "ann")
    known.post("/sign-out", data={"csrf_token": csrf(known, "/")})
    stranger = app.test_client()
    assert [send(stranger, "wrong").status_code for _ in range(AT_ONE_NAME + 1)] == [401] * AT_ONE_NAME + [429]
    assert send(stranger, PASSWORD).status_code == 429
    assert send(known, PASSWORD).status_code == 303
    known.post("/sign-out", data={"csrf_token": csrf(known, "/")})
    assert [send(known, "wrong").status_code for _ in range(AT_ONE_NAME + 1)] == [401] * AT_ONE_NAME + [429]
    forged = app.test_client()
    forged.set_cookie("demotape-known", known.get_cookie("demotape-known", path="/sign-in").value + "x",
                      path="/sign-in")
    assert send(forged, PASSWORD).status_code == 429


@pytest.mark.parametrize("used_up", [False, True])
def test_names_that_exist_and_others_get_the_same_answer(app, used_up, looked_at):
    told = []
    for name in ("ann", "nobody"):
        client = app.test_client()
        data = {"csrf_token": csrf(client), "name": name, "password": "wrong"}
        for number in range(AT_ONE_NAME if used_up else 0):
            client.post("/sign-in", data=data, environ_overrides={"REMOTE_ADDR": f"192.0.2.{number}"})
        answer = client.post("/sign-in", data=data)
        told.append((answer.status_code, answer.headers["Content-Length"], answer.text.replace(name, "")
                     .replace(data["csrf_token"], "")))
    expected = 429 if used_up else 401
    assert told[0][0] == told[1][0] == expected
    assert told[0][2].partition("csrf_token")[0] == told[1][2].partition("csrf_token")[0]


def test_only_few_hashes_are_made_at_once(monkeypatch):
    begun, go = threading.Semaphore(0), threading.Event()

    def compare(kept, password):
        begun.release()
        return not go.wait(60)
    monkeypatch.setattr(passwords, "check_password_hash", compare)
    with ThreadPoolExecutor(8) as pool:
        told = [pool.submit(passwords.is_right, None, "x") for _ in range(8)]
        for _ in range(passwords.AT_ONCE):
            assert begun.acquire(timeout=20)
        assert not passwords._turns.acquire(blocking=False)  # so the others wait
        go.set()
        assert [each.result() for each in told] == [False] * 8


def test_who_waits_too_long_is_told_and_not_counted(app, db, monkeypatch):
    monkeypatch.setattr(passwords, "WAIT_SECONDS", 0.01)
    for _ in range(passwords.AT_ONCE):
        passwords._turns.acquire()
    try:
        for _ in range(AT_ONE_NAME + 1):
            with pytest.raises(Busy):
                check_password(db, SignInAttemptLimits(db, KEY), "ann", PASSWORD, "192.0.2.1")
        client = app.test_client()
        data = {"csrf_token": csrf(client), "name": "ann", "password": PASSWORD}
        assert client.post("/sign-in", data=data).status_code == 503
    finally:
        for _ in range(passwords.AT_ONCE):
            passwords._turns.release()
    assert check_password(db, SignInAttemptLimits(db, KEY), "ann", PASSWORD, "192.0.2.1").name == "ann"


def test_an_address_that_is_none_is_counted_as_it_is():
    assert sign_in_attempts._network("unix:") == "unix:"
    assert sign_in_attempts._network("::ffff:192.0.2.1") == "192.0.2.1"
