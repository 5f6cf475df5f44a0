"""Names and addresses in text: how much is found, how much of it is any, and that no text takes long."""

import time

import pytest
from lxml import html

from benchmarks.privacy.names import score
from benchmarks.privacy.names_corpus import sentences
from pipeline.privacy.names import finding
from tests.pipeline.privacy.test_finding import STEEP

SIZES = (4_000, 8_000, 16_000)  # characters
HOSTILE = ("A", "Ann ", "Ann, ", "Dear ", "Name: ", "de ", "Ann de ", "1 ", "1 A ", "12 Main ", "Rue de ",
           "C/ A ", "a.", "ann.lee ", "Straße 1 ", "中", "王", "市", "路1号", "王·", "姓名：", "김", "김민 ",
           "로 1", "이름: ", "県", "東京都", "さん", "佐藤", "ア", "ア・", "お名前：", "' ", "Dr. ", "&")


def test_enough_is_found_and_little_else():
    scored = score(sentences())
    assert scored.recall() >= 0.9, scored.wrong
    assert scored.precision() >= 0.9, scored.wrong


@pytest.mark.parametrize("finder", [finder for _, finder in finding.FINDERS],
                         ids=[f"{finder.__module__}.{finder.__name__}" for _, finder in finding.FINDERS])
def test_no_text_takes_more_than_linear_time(finder):
    for unit in HOSTILE:
        took = []
        for size in SIZES:
            text = unit * (size // len(unit))
            began = time.thread_time()
            sum(1 for _ in finder(text))
            took.append(max(time.thread_time() - began, 0.02))
        steps = [after / before for before, after in zip(took, took[1:], strict=False)]
        assert not all(step > STEEP for step in steps), (unit, took)
        assert took[-1] < 3, (unit, took)


@pytest.mark.parametrize("page, found", [
    ('<dl><dt>Name</dt><dd>Xanthe Quill</dd></dl>', ("Xanthe Quill", "person")),
    ('<p>Signed in as <b>Zork Blavatnik</b></p>', ("Zork Blavatnik", "person")),
    ('<input autocomplete="shipping given-name" value="Zork">', ("Zork", "person")),
    ('<input name="user[last_name]" value="Blavatnik">', ("Blavatnik", "person")),
    ('<textarea autocomplete="street-address">Postbox 12</textarea>', ("Postbox 12", "address")),
    ('<input name="address.postal_code" value="80302">', ("80302", "address")),
    ('<label>氏名：</label><span>佐藤 健一</span>', ("佐藤 健一", "person")),
    ('<label>Full name <input value="Zork Blavatnik"></label>', ("Zork Blavatnik", "person")),
])
def test_labels_and_fields_tell(page, found):
    assert found in finding.on_page([], html.fromstring(f"<html><body>{page}</body></html>"))


@pytest.mark.parametrize("page", [
    '<input name="search" value="Main Page">', '<input type="hidden" name="first_name" value="csrf">',
    '<dl><dt>Name</dt><dd></dd><dt>Price</dt><dd>12</dd></dl>', '<input name="name" value="Blue Kettle">',
    '<script>Name</script><p>Kettle</p>', '<input autocomplete="given-name" value="[REDACTED]">'])
def test_what_is_none_is_left(page):
    assert finding.on_page([], html.fromstring(f"<html><body>{page}</body></html>")) == []
