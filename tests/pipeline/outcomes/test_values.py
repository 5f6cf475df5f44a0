"""Values by type, as WebArena-Verified 1.2.3 compares them: each verdict here is its own, None where ours says nothing.

benchmarks.webarena_verified holds many more against the package itself.
"""

import pytest

from pipeline.outcomes.addresses import address_of
from pipeline.outcomes.folding import Undecided, fold_text
from pipeline.outcomes.values import check_value, compiled, fits
from schemas import InputError


def value(kind, *wanted, patterns=()):
    return {"type": kind, **({"any_of": list(wanted)} if wanted else {}),
            **({"patterns": list(patterns)} if patterns else {})}


@pytest.mark.parametrize("wanted, given, verdict", [
    (value("string", "Floor lamp"), "  floor-LAMP. ", True), (value("string", "Floor lamp"), "Floor lamps", False),
    (value("string", "Zoë’s ™"), "“zoe's”", True), (value("string", "123-4567"), "123 4567", False),
    (value("string", "日本"), "日本", True), (value("string", "日本"), "Japan", None),
    (value("string", "a"), "日本", None),  # noqa: RUF001
    (value("string", "2"), 2, True), (value("string", "0"), 0, False), (value("string", "true"), True, True),
    (value("string", "a", "b"), "B", True), (value("string", "a"), ["x", "a"], True),
    (value("string", "a"), ["a"], False), (value("string", "a"), {"a": 1}, None), (value("string", "a"), None, False),
    (value("string", None), None, True), (value("string", "a"), "^.*$", None),
    (value("string", patterns=["^l.*p$"]), "LAMP", True), (value("string", patterns=["^l.*p$"]), "lamps", False),
    (value("string", patterns=["^l.*$"]), "l http://x/", None),
    (value("string", "see http://a/x"), "see http://a/x.", None),
    (value("string", "see http://a/x"), "“see” it", False), (value("string", "see http://a/X"), "see http://a/x", None),
    (value("string", "http://a/x"), "__SHOPPING__/x", None), (value("parameter", "lamp"), " LAMP ", True),
    (value("parameter", "lamp"), "'lamp'", False), (value("parameter", patterns=["^(lamp|)$"]), "", True),
    (value("parameter", patterns=["^l.*$"]), "é", None), (value("number", 1234), "1,234", True),
    (value("number", "1 234"), 1234.0, True), (value("number", 12), "12%", False),
    (value("number", 23), "twenty-three", None), (value("number", 23), "many", False), (value("number", 1), True, True),
    (value("boolean", True), "Yes", True), (value("boolean", True), "yes.", False), (value("boolean", False), 0, True),
    (value("currency", 12.99), "$13.09", True), (value("currency", 12.99), "13.10", False),
    (value("currency", "1,234.50"), "1.234,5 €", True), (value("currency", "1,234"), 1.23, True),
    (value("currency", 0), "Free", True), (value("currency", 5), "-$5", False), (value("currency", 5), "$-5", None),
    (value("currency", 5), "5 or 6", None), (value("currency", 5), "none", False), (value("currency", 9, 5), 5, False),
    (value("date", "2023-01-15"), "Jan 15,2023", True), (value("date", "2023-01-15"), "1/15/2023", True),
    (value("date", "2023-01-15"), "15 January 2023", True), (value("date", "2023-01-15"), "15/01/2023", None),
    (value("date", "2023-01-15"), "tomorrow", False), (value("date", "2023-01-15"), "Sunday", None),
    (value("date", "2023-01-15"), 20230115, False), (value("month", "January"), 1, True),
    (value("month", "Jan"), "02", False), (value("month", "Jan"), "13", False),
    (value("month", "Jan"), "Jan 2023", None), (value("duration", "01:33:00"), "1 hour 33 minutes", True),
    (value("duration", "01:33:00"), "95 min", True), (value("duration", "01:33:00"), "2h", False),
    (value("duration", "01:33:00"), "1:33", None), (value("duration", "01:33:00"), "93", False),
    (value("list", "1,2,3"), "3, 2,1,", True), (value("list", "1"), "", False),
    (value("url", "git@host:A/b.git"), "ssh://git@other:22/a/b.git", True), (value("url", "git@h:a"), "git@h:b", False),
    (value("url", "git@h:a"), "I do not know", False),
    (value("url", "http://h:80/a/?x=1&y="), "http://H/a?X&x=1", True),
])
def test_a_value(wanted, given, verdict):
    check_value(wanted)
    try:
        found = fits(wanted, given)
    except Undecided:
        found = None
    assert found is verdict


@pytest.mark.parametrize("wanted", [
    value("number", "many"), value("number", "nan"), value("date", "15/01/2023"), value("currency", "5 or 6"),
    value("boolean", "maybe"), value("list", ","), value("string", " ^a$"), value("url", ""),
    value("string", patterns=["^(?!a).*$"]), value("string", patterns=["^[[:alpha:]]$"]),
    value("string", patterns=["^a{,2}$"]), value("string", patterns=["^(a$"]), value("string", patterns=["^\\pL$"]),
    value("string", patterns=["^é$"])
])
def test_what_is_wanted_must_be_readable(wanted):
    with pytest.raises(InputError):
        check_value(wanted)


def test_patterns_take_linear_time():
    assert not compiled("^(a+)+$", True).fullmatch("a" * 10_000 + "b")


@pytest.mark.parametrize("text, base, parameters", [
    ("http://Shop.example:80/a//b/./c/../d/?q=Lamp&q=a+b&x#top", "http://shop.example/a/b/d/#top",
     {"q": "a b", "x": ""}),
    ("https://shop.example", "https://shop.example/", {}), ("http://h/%7Ea%2fb%C3%A9/", "http://h/~a/b%C3%A9", {}),
    ("http://h/a?x=%2541&&=&y=1=2", "http://h/a", {"x": "a", "y": "1=2"}),
    ("http://h/a?x=%26%2B%26", "http://h/a", {"x": "& &"}), ("GIT@Host:22/A/b.git", "git@:22/a/b.git", {})])
def test_an_address(text, base, parameters):
    found = address_of(text)
    assert (found.base, dict(found.parameters)) == (base, parameters)


@pytest.mark.parametrize("text", ["no address", "ftp://h/", "http://ü.example/", "http://a@h/", "http://h/%ff",
                                  "http://h/a%23b", "http://h/#!x", "http://h/a\tb", "git@host", "", "http://h:x/"])
def test_an_address_that_is_not_plain_is_not_compared(text):
    with pytest.raises(Undecided):
        address_of(text)


def test_a_text_that_is_too_long_is_not_compared():
    assert fold_text("Ａ\u00ad\x00  b") == "a b"  # noqa: RUF001 - a wide letter
    with pytest.raises(Undecided, match="too long"):
        fold_text("a" * 100_000)
