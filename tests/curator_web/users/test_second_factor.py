"""Codes of the second factor: each counts once, near its time, and is counted before it is tried."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from sqlalchemy import select

from curator_web import users
from curator_web.db.models.core import AuditLine, SecondFactor
from curator_web.errors import InputError, NotSignedIn, TooManyAttempts
from curator_web.users import SecondFactors, second_factor
from curator_web.users.sign_in_attempts import AT_ONE_NAME

KEY = b"k" * 32
SECRET = second_factor.new_secret()


def code(periods: int = 0) -> str:
    """The app's code of this period, or of one so many later."""
    return pyotp.TOTP(SECRET).at(datetime.now(UTC) + timedelta(seconds=periods * second_factor.PERIOD))


@pytest.fixture
def factors(db):
    return SecondFactors(db, KEY)


def test_a_code_counts_once_and_only_near_its_time(factors):
    factors.turn_on("ann", SECRET, code(-1))
    assert not factors.is_right("ann", code(-1)), "it was used to turn it on"
    assert not factors.is_right("ann", code(-4)) and not factors.is_right("ann", code(4))
    assert factors.is_right("ann", code()) and not factors.is_right("ann", code())
    assert factors.is_right("ann", code(1)), "a phone's clock is ahead"
    assert not factors.is_right("bob", code(1))


def test_of_many_at_once_one_counts(factors):
    factors.turn_on("ann", SECRET, code(-1))
    newest = code(1)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: factors.is_right("ann", newest), range(16))) == 1


def test_each_recovery_code_counts_once(factors, db):
    codes = factors.turn_on("ann", SECRET, code())
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    assert factors.is_right("ann", f" {codes[3].replace('-', ' ')} ") and not factors.is_right("ann", codes[3])
    with db.reading() as session:
        row = session.get(SecondFactor, "ann")
        assert SECRET not in row.secret and not any(each in str(row.recovery) for each in codes)
        assert "recovery code used" in session.scalars(select(AuditLine.what)).all()


def test_wrong_codes_are_counted_before_they_are_tried(factors, app):
    tries = app.extensions["demotape"].tries
    factors.turn_on("ann", SECRET, code(-1))
    for _ in range(AT_ONE_NAME):
        with pytest.raises(NotSignedIn):
            users.check_code(factors, tries, "ann", "000 000 0", "192.0.2.7")
    with pytest.raises(TooManyAttempts):
        users.check_code(factors, tries, "ann", code(), "192.0.2.7")
    tries.reserve("ann", "192.0.2.8")  # the password is counted apart


@pytest.mark.parametrize("odd", ["", "１２３４５６", "12345", "1234567", "abcdef", "\ud800", "9" * 5000])
def test_odd_codes_are_wrong_codes(factors, odd):
    with pytest.raises(InputError, match="code: wrong code"):
        factors.turn_on("ann", SECRET, odd)
    factors.turn_on("ann", SECRET, code())
    assert not factors.is_right("ann", odd)


def test_with_another_key_no_code_fits_and_a_lead_can_turn_it_off(factors, db):
    factors.turn_on("ann", SECRET, code(-1))
    other = SecondFactors(db, b"o" * 32)
    assert other.is_on("ann") and not other.is_right("ann", code())
    second_factor.turn_off(db, "ann", by="lea")
    assert not other.is_on("ann")


def test_it_goes_with_the_user(factors, db):
    factors.turn_on("ann", SECRET, code())
    users.remove(db, "ann")
    assert not factors.is_on("ann")
