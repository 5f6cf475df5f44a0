"""Stand-ins: the same person has one, however the name is written, and nobody can tell whose it is without the key."""

import pytest

from pipeline.privacy.names.redaction import NameRedaction
from pipeline.privacy.names.stand_ins import StandIns
from pipeline.privacy.redacting import STAND_IN, Redactor

WAYS = ("Ann Lee", "ANN LEE", "ann lee", "Lee, Ann", "Lee Ann", "ann.lee", "Ann\u00a0Lee", "ann_lee", "Ann%20Lee",
        "Ann+Lee", "Ann&nbsp;Lee")


@pytest.mark.parametrize("way", WAYS)
def test_one_person_has_one_stand_in(way):
    stand_in = StandIns("key").stand_in_for("Ann Lee", "person")
    assert STAND_IN.fullmatch(stand_in)
    assert StandIns("key").replacing(["Ann Lee"]).text(f"({way})") == f"({stand_in})"
    assert StandIns("other").stand_in_for("Ann Lee", "person") != stand_in != StandIns("key").stand_in_for("Ann Lea",
                                                                                                           "person")


@pytest.mark.parametrize("name, way", [
    ("Müller Jörg", "J&ouml;rg M&uuml;ller"), ("Jörg Müller", "M%C3%BCller%2C%20J%C3%B6rg"),
    ("Jörg Müller", "JÖRG MÜLLER"),
    ("Jörg Müller", "J\\u00f6rg M\\u00fcller"), ("Siobhán O'Connell", "Siobh&#225;n O&#x27;Connell"),
    ("Frau Jörg Müller", "frau jörg müller"), ("長谷川 千尋", "長谷川千尋"),
    ("김민준", "김민준"), ("佐藤健一", "佐藤健一"),
])
def test_however_it_is_written(name, way):
    text = StandIns("key").replacing([name]).text(f"<b>{way}</b>")
    assert STAND_IN.fullmatch(text[3:-4]), text


def test_a_part_stands_for_the_only_one_who_has_it():
    replacing = StandIns("key").replacing(["Ann Lee", "Tom Fisher", "Sue Fisher", "Will Smith"])
    ann = StandIns("key").stand_in_for("Ann Lee", "person")
    assert replacing.text("Ann said: will Fisher come? Joann, Annabel, LEE and (Ann)") == (
        f"{ann} said: will Fisher come? Joann, Annabel, {ann} and ({ann})")


@pytest.mark.parametrize("text", ["Joann Lee", "Ann Leeds", "annlee", "xAnn Lee9", "ÀAnn Leeé"])
def test_a_longer_word_is_another(text):
    replacing = StandIns("key").replacing(["Zann Quee"])
    changed = text.replace("Ann", "Zann").replace("ann", "zann").replace("Lee", "Quee").replace("lee", "quee")
    assert replacing.text(changed) == changed


def test_any_bytes_and_texts():
    replacing = StandIns("key").replacing(["Ann Lee", "René"])
    assert replacing.content(b"\xff Ann Lee \x00").startswith(b"\xff [PERSON ")
    assert replacing.text("\ud800 Ann Lee").startswith("\ud800 [PERSON ")
    assert replacing.content(b"nothing") == b"nothing" and replacing.text("") == ""
    assert replacing.text("日本René日本").startswith("日本[PERSON ")
    assert replacing.text(r'{"a":"x\nAnn Lee"}').startswith(r'{"a":"x\n[PERSON ')


def test_an_address_has_one_stand_in():
    of = StandIns("key").stand_in_for
    assert of("12 Main Street, Boulder", "address") == of("12 MAIN STREET Boulder", "address")
    assert of("12 Main Street", "address") != of("12 Main Street", "person")


@pytest.mark.parametrize("written", [
    "Margaret Hollo\xadway", "Margaret\u202fHolloway", "Ｍａｒｇａｒｅｔ Ｈｏｌｌｏｗａｙ", "Margaret Hollow\\u0061y",
    "M&#97;rgaret Holloway"])
def test_a_name_in_another_spelling_is_the_same_person(written):
    names = NameRedaction("key")
    [(value, kind)] = names.in_texts([f"Dear {written},"])
    assert (value, kind) == (written, "person")
    assert names.stand_in_for(value, kind) == names.stand_in_for("Margaret Holloway", "person")
    known = Redactor({}, names=names).knowing([f"Dear {written},"])
    assert known.text(f"Dear {written},") == f"Dear {names.stand_in_for('Margaret Holloway', 'person')},"
