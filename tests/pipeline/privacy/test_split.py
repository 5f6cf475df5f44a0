"""Personal data that a page writes in several elements is found and taken out, and the page stays as it is built."""

import time

import pytest

from pipeline.pages.dom import BREAK, flatten, parse
from pipeline.privacy.redacting import Redactor
from pipeline.privacy.split import findings_in_runs


def page(body: str):
    return flatten(f"<html><head></head><body>{body}</body></html>".encode())


def clean(body: str) -> str:
    flattened = page(body)
    values = dict(findings_in_runs(sorted(flattened.runs), set()))
    return Redactor(values).markup(flattened.content).decode()


def tags_of(content: bytes) -> list[str]:
    return [each.tag for each in parse(content).iter()]


@pytest.mark.parametrize("body", [
    "<div><template shadowrootmode=open><p>4111<wbr>1111<b>1111</b><wbr>1111</p></template></div>",
    "<iframe srcdoc='<p>4111 <b>1111</b> 1111 <i>1111</i></p>'></iframe>",
    "<p>Card 4111<wbr>1111<wbr>1111<wbr>1111.</p>", "<p><span>4111</span> <span>1111</span> <span>1111 1111</span></p>",
    "<p>\n  <span>4111</span>\n  <span>1111</span>\n  <span>1111</span>\n\t<span>1111</span>\n</p>",
    "<p>Mail <b>ann.lee</b>@shop.example now</p>", "<p>ann<mark>.l</mark>ee@<i><b>shop</b></i>.example</p>",
    "<p>IBAN <span>DE71</span> <span>5227 2623</span> <span>2933 2289 29</span></p>",
    "<div><p>DE71 <em>5227 2623 2933</em> 2289 29</p></div>",
    "<p>Call <b>+33 6</b> 57 70 33 09</p>",
    "<p>Key <code>ghp_<span>abcdefghijklmnopqrst</span>uvwxyz0123456789</code></p>",
    "<p>Your password is <code>hunter2!x</code></p>", "<p>a &amp; b <b>ann</b>@shop.example &lt;x&gt;</p>"])
def test_it_is_taken_out_between_its_tags(body):
    result = clean(body)
    said = "".join(page(result).texts).replace(" ", "")
    for part in ("4111", "1111", "ann", "shop.example", "5227", "2289", "57703", "657", "abcdefgh", "hunter2"):
        assert part not in said, result
    assert "[REDACTED]" in said
    assert tags_of(result.encode()) == tags_of(page(body).content)


@pytest.mark.parametrize("body", [
    "<p>4111</p><p>1111</p><p>1111</p><p>1111</p>", "<ul><li>4111<li>1111<li>1111<li>1111</ul>",
    "<td>4111</td><td>1111 1111 1111</td>", "<p>4111<br>1111<br>1111<br>1111</p>",
    "<p><a>4111</a><a>1111</a><a>1111</a><a>1111</a></p>", "<p>ann<script>@shop.example</script></p>",
    "<p>Total <b>12</b> of <b>345</b></p>"])
def test_what_stands_apart_is_not_put_together(body):
    assert clean(body) == page(body).html


def test_it_is_known_where_it_stands_in_one_piece_too():
    values = {f"4111{BREAK}1111{BREAK}1111{BREAK}1111": "card"}
    known = Redactor(values)
    assert known.text("4111111111111111") == "[REDACTED]" and known.counts == {"card": 1}
    assert known.walk({"name": "Card 4111111111111111"}) == {"name": "Card [REDACTED]"}
    assert known.text("{\"html\": \"4111<i>1111</i>1111<b class=x>1111</b>\"}") == (
        "{\"html\": \"[REDACTED]<i>[REDACTED]</i>[REDACTED]<b class=x>[REDACTED]</b>\"}")
    assert known.text("4111 < 1111") == "4111 < 1111" and known.digest != Redactor({"4111111111111111": "card"}).digest
    later = known.knowing(["ann@shop.example"])
    assert later.markup(b"4111<i>1111</i>1111<b>1111</b>") == b"[REDACTED]<i>[REDACTED]</i>[REDACTED]<b>[REDACTED]</b>"


def test_it_takes_time_in_proportion_to_the_page():
    values = {f"4111{BREAK}1111{BREAK}1111{BREAK}1111": "card"}
    known, took = Redactor(values), []
    for size in (100_000, 400_000):
        begun = time.thread_time()
        for piece in (b"4111", b"4111<i>", b"4111<i>1111", b"<", b"4111<i> ", b"4111 <i>1111</i>"):
            known.markup(piece * (size // len(piece)))
        took.append(time.thread_time() - begun)
    assert took[1] < 12 * max(took[0], 0.02)
