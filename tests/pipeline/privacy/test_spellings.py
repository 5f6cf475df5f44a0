"""Personal data in every way to write it: found whole, and removed with nothing around it."""

import html
import json
import shutil
from urllib.parse import quote, quote_plus

import pytest

from pipeline.export import FORMATS, Source, export
from pipeline.privacy.finding import find
from pipeline.privacy.redacting import Redactor
from recorder import Recording
from schemas import REDACTED
from tests.pipeline.privacy.test_redacting import everything
from tests.support.kept import DATA

MAIL, CARD, IBAN, PHONE = "ann.lee@lab.example", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "+49 30 901820"
VALUES = {"email": MAIL, "card": CARD, "iban": IBAN, "phone": PHONE}
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
ARABIC = {ord(digit): 0x660 + int(digit) for digit in "0123456789"}


def inside(value: str, sign: str) -> str:
    return value[:3] + sign + value[3:-3] + sign + value[-3:]


SPELLINGS = {
    "percent": quote, "percent of all": lambda value: "".join(f"%{ord(sign):02x}" for sign in value),
    "percent twice": lambda value: quote(quote(value, safe=""), safe=""),
    "references": lambda value: "".join(f"&#{ord(sign)};" for sign in value),
    "references twice": lambda value: html.escape("".join(f"&#x{ord(sign):X};" for sign in value)),
    "JSON": lambda value: "".join(f"\\u{ord(sign):04x}" for sign in value),
    "JSON twice": lambda value: json.dumps("".join(f"\\u{ord(sign):04x}" for sign in value))[1:-1],
    "JavaScript": lambda value: "".join(f"\\x{ord(sign):02x}" for sign in value),
    "wide": lambda value: value.translate(WIDE), "Arabic digits": lambda value: value.translate(ARABIC),
    **{name: lambda value, sign=sign: inside(value, sign) for name, sign in {
        "soft hyphen": "\xad", "zero-width space": "\u200b", "word joiner": "\u2060", "BOM": "\ufeff",
        "bidi": "\u202c", "variation": "\ufe0f", "tag": "\U000e0041", "soft hyphen reference": "&shy;",
        "zero-width reference": "&#8203;"}.items()},
    **{name: lambda value, sign=sign: value.replace(" ", sign) for name, sign in {
        "no-break space": "\xa0", "narrow space": "\u202f", "thin space": "\u2009", "hyphen": "\u2010",
        "no-break hyphen": "\u2011", "figure dash": "\u2012", "en dash": "\u2013", "minus": "\u2212",
        "dot": "."}.items()},
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_value_is_found_whole_and_nothing_around_it(kind, spelling):
    written = SPELLINGS[spelling](VALUES[kind])
    for before, after in (("", ""), ("Mail (", "), thanks"), ("<p title='", "'>x</p>"), ('{"a": "', '", "b": 1}')):
        spans = find(before + written + after)
        assert [(span.kind, (before + written + after)[span.start:span.end]) for span in spans] == [(kind, written)]


@pytest.mark.parametrize("mail", [
    '"ann lee"@lab.example', "änn@lab.example", "ann@läb.example", "ann@xn--lb-via.example", "анна@почта.рф",
    "用户@例子.广告", "ann.le\u0301@lab.example", "_ann@lab.example", "ann+x@lab.example", "δοκιμή@παράδειγμα.ελ",
    "ann\\@lab.example", "ann\\40 lab.example", "ann@lab.co.uk", "उदाहरण@परीक्षा.भारत"])
def test_mail_addresses_of_every_script(mail):
    for text in (mail, f"x {mail}, y", f"<{mail}>", f"({mail})"):
        assert [text[span.start:span.end] for span in find(text)] == [mail]


@pytest.mark.parametrize(("address", "left"), [
    ("https://x.example/?tel=%2B49+30+901820&page=2", "https://x.example/?tel=[REDACTED]&page=2"),
    ("https://x.example/?q=4111+1111+1111+1111#top", "https://x.example/?q=[REDACTED]#top"),
    ("https://x.example/?iban=DE89+3704+0044+0532+0130+00", "https://x.example/?iban=[REDACTED]"),
    ("/find?mail=ann%2Bx%40lab.example&a=1", "/find?mail=[REDACTED]&a=1"),
    ("/find?mail=ann+x@lab.example&a=1", "/find?mail=[REDACTED]&a=1"),
    ("/a?next=%2Fb%3Fmail%3Dann%2540lab.example%26c%3Dd", "/a?next=%2Fb%3Fmail%3D[REDACTED]%26c%3Dd"),
    ("/u/ann.lee%40lab.example/edit", "/u/[REDACTED]/edit"), ("tel:+49-30-901820", "tel:[REDACTED]"),
    ("#mail=ann%40lab.example", "#mail=[REDACTED]"),
    ("/x?token=ab%26cd%3Def12345&b=1", "/x?token=[REDACTED]&b=1"),
    ("/x?note=my+password+is+hunter2%21&b=1", "/x?note=my+password+is+[REDACTED]&b=1"),
])
def test_addresses_stay_addresses(address, left):
    known = Redactor({}).knowing([address])
    assert known.text(address) == left


@pytest.mark.parametrize("value", [MAIL, CARD, IBAN, PHONE, '"ann lee"@lab.example'])
def test_json_stays_json(value):
    for body in ({"a": f"\n{value}", "b": [value, 1]}, {"a": json.dumps({"b": value})}, [f"{value}\t{value}"]):
        for ensure_ascii in (True, False):
            text = json.dumps(body, ensure_ascii=ensure_ascii)
            assert json.loads(Redactor({}).knowing([text]).text(text)) == json.loads(
                json.dumps(body).replace(json.dumps(json.dumps(value)[1:-1])[1:-1], REDACTED).replace(
                    json.dumps(value)[1:-1], REDACTED))


def test_numbers_of_json_become_texts_of_it():
    text = '{"card": 4111111111111111, "cards":[4111111111111111,1], "b": 2}'
    clean = Redactor({}).knowing([text]).text(text)
    assert json.loads(clean) == {"card": REDACTED, "cards": [REDACTED, 1], "b": 2}
    assert Redactor({}).knowing([text]).text("See: 4111111111111111, 2") == f"See: {REDACTED}, 2"


@pytest.mark.parametrize("text", [
    '{"msg":"my password is hunter2","x":1}', "<p>my password is hunter2</p><b>x</b>",
    "<a title='my password is hunter2'>x</a>", "/x?n=my+password+is+hunter2&b=1"])
def test_a_spoken_secret_ends_with_the_text_that_contains_it(text):
    assert Redactor({}).knowing([text]).text(text) == text.replace("hunter2", REDACTED)


def test_a_value_that_is_known_is_replaced_in_every_spelling():
    known = Redactor({}).knowing(["my password is Sommer-24!"])
    for spell in (quote, quote_plus, *SPELLINGS.values()):
        written = spell("Sommer-24!")
        assert known.text(f"a {written} b") == f"a {REDACTED} b"
        assert known.markup(f"<p>{written}</p>".encode()) == f"<p>{REDACTED}</p>".encode()
    binary = b"\xff\xfe Sommer-24! \x00"
    assert known.markup(binary) == b"\xff\xfe [REDACTED] \x00"


@pytest.mark.parametrize("text", [
    "123e4567-e89b-12d3-a456-426614174000", "€ 4.111,11 · € 1.111,11 · € 1.111,11", "v4.17.21-beta.3", "2024-05-01",
    "@property def user(self):", "import x from '@scope/lib@4.17.21'", "icon@2x.png", "git@github.com:a/b.git",
    "a:hover{background:url(x%40y.png)}", "52.520008, 13.404954", "Order 112-4567890-1234567", "#%40section",
    "root@localhost", "4111.1111", "?id=4111111111111112", "?width=40px&h=4023", "\\u4e2d\\u6587 \\x41",
    "width=40px.png", "sha256:9f86d081884c7d659a2feaa0c55ad015", "10.1.2.3:8080", "1990\u20131995, 2000\u20132005",
    "&copy; 2024 &middot; 100&nbsp;%", "de12 345", "@media (min-width: 40em)", "x = y @ z.T",
    '["ann","@lab.example"]', "ISO 13616-1:2007", "1 234 567 890 123 456", "7 924 924 924 €", "€ 612 345 678",
    "612 345 678 EUR", "Reset password\n6d17da97-94c4-1cb5-d16d-d925cdf5edb7", "C:\\new\\40\\temp"])
def test_what_is_no_personal_data(text):
    assert find(text) == []


@pytest.mark.parametrize("layout", FORMATS)
def test_no_spelling_is_in_the_files_of_an_export(layout, tmp_path):
    root = shutil.copytree(DATA / "v2" / "kept", tmp_path / "kept")
    demonstration = json.loads((root / "demonstration.json").read_bytes())
    written = [spell(value) for spell in SPELLINGS.values() for value in VALUES.values()]
    said = " ; ".join(f"{number}: ({text})" for number, text in enumerate(written))
    for turn in demonstration["turns"]:
        if turn["type"] == "chat":
            turn["utterance"] = said
        elif turn["intent"] == "textInput":
            turn["arguments"]["text"] = said
    export([Source(demonstration, Recording(root))], tmp_path / "out", layout)
    content = everything(tmp_path / "out")
    for text in written:
        for form in (text, html.escape(text), json.dumps(text)[1:-1], json.dumps(json.dumps(text)[1:-1])[1:-1]):
            assert form.encode() not in content, text
    assert b"(" + REDACTED.encode() + b")" in content or layout in ("mind2web", "multimodal-mind2web")
