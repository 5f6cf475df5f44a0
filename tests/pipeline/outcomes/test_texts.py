"""What a text, a number and an address must be: tables of cases, as VisualWebArena's evaluators decide them."""

import pytest

from pipeline.outcomes.texts import address_holds, clean, holds, words


@pytest.mark.parametrize("text, cleaned", [
    (" Blue ", "blue"), ("'Blue'", "blue"), ('"Blue"', "blue"), ("'Blue", "'blue"), ("\"'Blue'\"", "'blue'"),
    ("'", "'")])
def test_a_text_is_compared_without_its_quotes(text, cleaned):
    assert clean(text) == cleaned


@pytest.mark.parametrize("text, found", [
    ("It costs $12.50, with tax.", ["It", "costs", "$", "12.50", ",", "with", "tax", "."]),
    ("Is it 1,200? Yes (nearly).", ["Is", "it", "1,200", "?", "Yes", "(", "nearly", ")", "."]),
    ("Don't use Ann's well-known a/b", ["Do", "n't", "use", "Ann", "'s", "well-known", "a/b"]),
    ("at 10:30 see https://a.example/x?y=1&z=2", ["at", "10:30", "see", "https", ":", "//a.example/x", "?", "y=1", "&",
                                                 "z=2"]),
    ("", []), ("...", ["..."]), ("50%", ["50", "%"]), ("'quoted'", ["'", "quoted", "'"])])
def test_words(text, found):
    assert words(text) == found


@pytest.mark.parametrize("match, text, decided", [
    ({"exact": ["Blue"]}, "blue ", True), ({"exact": ["Blue"]}, "blue car", False),
    ({"exact": ["Blue", "Red"]}, "'red'", True), ({"exact": ["12"]}, "12.0", False),
    ({"includes": [["0"]]}, "it is 10", False), ({"includes": [["0"]]}, "it is 0.", True),
    ({"includes": [["red"]]}, "a bored man", False), ({"includes": [["red car"]]}, "a bored cart, red cars", True),
    ({"includes": [["1,200"]]}, "costs 1,200.", True), ({"includes": [["$5"]]}, "it is $50", True),
    ({"includes": [["blue", "red"], ["car"]]}, "a red car", True),
    ({"includes": [["blue"], ["car"]]}, "red car", False),
    ({"excludes": ["red"]}, "a bored man", True), ({"excludes": ["red"]}, "A Red car", False),
    ({"excludes": ["red car"]}, "two red cars", False),
    ({"one_of": ["red", "blue"]}, "bored", True), ({"one_of": ["green"]}, "bored", False),
    ({"numbers": [[">= 12"]]}, "12", True), ({"numbers": [[">= 12"], ["< 700"]]}, "1,000", False),
    ({"numbers": [["== 3", "== 4"]]}, "4", True), ({"numbers": [["<= 3"]]}, "about 3", False),
    ({"numbers": [["> 3"]]}, "nan", False), ({"numbers": [["3"]]}, "3", False), ({"numbers": [["> x"]]}, "3", False),
    ({"exact": ["a"], "excludes": ["a"]}, "a", False), ({"fuzzy": "the same"}, "alike", None),
    ({"fuzzy": "the same", "exact": ["x"]}, "alike", False)])
def test_what_a_text_must_be(match, text, decided):
    found, reason = holds(match, text)
    assert found is decided and bool(reason) == (found is not True)


def test_a_judge_decides_what_means_the_same():
    assert holds({"fuzzy": "a red car"}, "x", lambda wanted, text: True) == (True, "")
    assert holds({"fuzzy": "a red car"}, "x", lambda wanted, text: False)[0] is False


@pytest.mark.parametrize("match, url, decided", [
    ({"exact": ["http://a.example/x/"]}, "http://a.example/x", True),
    ({"exact": ["http://localhost:1/x"]}, "http://127.0.0.1:1/x/", True),
    ({"exact": ["http://a.example/X"]}, "http://a.example/x", False),
    ({"exact": ["http://a.example/x"]}, "http://a.example/x?y=1", False),
    ({"includes": [["a.example/x", "b.example"]]}, "http://a.example/x?y=1", True),
    ({"includes": [["a.example/z"]]}, "http://a.example/x", False),
    ({"excludes": ["logout"]}, "http://a.example/logout", False), ({"one_of": ["x", "y"]}, "http://a.example/y", True),
    ({"numbers": [["> 1"]]}, "http://a.example", None)])
def test_what_an_address_must_be(match, url, decided):
    assert address_holds(match, url)[0] is decided
