"""A secret that was typed in one session and stands in plain text in another: it is in no export of both."""

import hashlib
import json
import random
import time

import pytest

from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.privacy import recorded_secrets
from pipeline.privacy.recorded_secrets import RecordedSecrets
from pipeline.privacy.redacting import redactor
from pipeline.privacy.secret_candidates import secret_candidates
from recorder import Recording
from schemas.secret_digests import LONGEST, MAX_DIGESTS, digest_of, make_digests
from tests.pipeline.privacy.test_redacting import everything

SECRET, PLAIN = "Engine-1843 & <x>", "unchanged words"
FORM = "<form action=/two><label>Password <input type=password name=p></label><button>Go</button></form>"
NOTES = ("<!DOCTYPE html><title>Notes</title><p id=n>The account is ada, Engine-1843 &amp; &lt;x&gt; as ever.</p>"
         "<p title='Engine-1843 &amp; &lt;x&gt;'>Hover</p><textarea>unchanged words</textarea><button>Go</button>"
         "<script>fetch('/data').then(a => a.json())</script>")


@pytest.mark.parametrize("value", ["hunter22!", "zwölf Boxkämpfer", "パスワード1", "ab\ud800cdef1", "correct-Horse",
                                   "x" * (LONGEST - 1) + "1", "20481632", "a=b&c#9/"])
def test_a_typed_secret_is_found_among_the_words_of_texts(value):
    around = "".join(random.Random(1).choices("abc ", k=20_000))
    recorded = RecordedSecrets([make_digests([value]), make_digests(["another-1"])])
    in_sentence = [] if " " in value else [f"use ({value}), {value[0]}"]
    for text in (value, f'so "{value}".', f"Password: {value}", *in_sentence):
        assert recorded.find([around, text]) == [value], text
    assert recorded.find([around, value[:-1], value[1:], "Password: another"]) == []


@pytest.mark.parametrize("written", [
    "hunter22&#33;", "hunter22%21", "h\xadunter22!", "\\u0068unter22!", "ｈｕｎｔｅｒ２２!",
    "/login?user=ada&code=hunter22%21", "ada:hunter22!", "密码用hunter22!就行", "user ada / hunter22!",
    '{"a": "hunter22!"}'])
def test_a_typed_secret_is_found_and_replaced_in_other_spellings(written):
    demonstration = {"task": "", "turns": [{"type": "chat", "id": "1", "utterance": f"try {written}"}]}
    known = redactor(demonstration, (), recorded_secrets=RecordedSecrets([make_digests(["hunter22!"])]))
    clean = known.walk(demonstration)["turns"][0]["utterance"]
    assert "[REDACTED]" in clean and "unter22" not in clean and "ｕｎｔｅｒ" not in clean


def test_too_long_ones_have_no_digest_and_nothing_recorded_costs_nothing():
    assert make_digests(["x" * (LONGEST + 1)]) is None and make_digests([]) is None
    assert RecordedSecrets().find(["text"] * 10) == [] and RecordedSecrets().digest == ""


def test_recordings_of_the_same_secret_have_nothing_in_common_and_tell_no_length():
    one, other, longer = (make_digests([value]) for value in ("hunter22!", "hunter22!", "hunter22!" * 10))
    assert set(one) == {"salt", "digests"}
    assert one["salt"] != other["salt"] and not {*one["digests"]} & {*other["digests"]}
    assert len(json.dumps(one)) == len(json.dumps(other)) == len(json.dumps(longer))
    many = make_digests(f"value-{number}" for number in range(MAX_DIGESTS + 5))
    assert len(many["digests"]) == MAX_DIGESTS and many["digests"] == sorted(many["digests"])


def test_a_guess_costs_one_slow_digest(monkeypatch):
    recorded, calls = make_digests(["summer-07"]), []
    slow = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *content, **cost: calls.append(cost) or slow(*content, **cost))
    guesses = [f"summer-{number:02}" for number in range(10)]
    began = time.process_time()
    assert [guess for guess in guesses if digest_of(guess, recorded["salt"]) in recorded["digests"]] == ["summer-07"]
    assert len(calls) == len(guesses) and all(128 * cost["n"] * cost["r"] >= 16 << 20 for cost in calls)
    assert time.process_time() - began > 0.01 * len(guesses)  # on the fastest machine


def test_hostile_texts_and_digests_do_not_cost_hours(monkeypatch):
    compared = []
    monkeypatch.setattr(recorded_secrets, "_digest_of", lambda value, salt: compared.append(value) or "")
    hostile = [{"salt": f"{number:032x}", "digests": [f"{7:032x}"]} for number in range(7)]
    text = " ".join(f"Word-{number}!" for number in range(100_000))
    RecordedSecrets(hostile).find([text, "my Pass-1234!"])
    assert len(compared) == recorded_secrets.MAX_COMPARISONS
    assert len(secret_candidates([text * 10])) < 200_000


def test_the_likeliest_words_are_compared_first():
    texts = ["On 2024-05-01 the well-known follow-up of Order 4711-22 cost 12.50 EUR", "it's Tr0ub4dor&3 then"]
    assert secret_candidates(texts)[0] == "Tr0ub4dor&3"
    assert "follow" not in secret_candidates(texts) and "known" not in secret_candidates(texts)


@pytest.mark.parametrize("way", ["recorder", "extension"])
def test_what_was_typed_in_one_session_is_in_no_export_of_another(request, site, tmp_path, way):
    site.pages |= {"/": FORM, "/two": "<p>Welcome</p>", "/notes": NOTES, "/data": ("application/json", f'["{SECRET}"]'
                   .encode())}

    async def sign_in(page):
        await page.locator("input").click()
        await page.keyboard.type(SECRET)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/two*")
        await page.locator("p").click()

    async def look(page):
        await page.locator("#n").click()
        await page.locator("button").click()

    if way == "recorder":
        record, keep = request.getfixturevalue("recording_browser").record, {"keep": {"har": True, "mhtml": True}}
    else:
        record, keep = request.getfixturevalue("chrome").record, {}
    first = record(sign_in, url=site.origin + "/").recording
    second = record(look, url=site.origin + "/notes", **keep).recording
    assert len(first.manifest["secret_digests"]["digests"]) == 1 and "secret_digests" not in second.manifest
    assert SECRET.encode() not in first.layout.manifest.read_bytes()
    sources = [Source(process(each.layout.root), Recording(each.layout.root)) for each in (first, second)]
    alone = export(sources[1:], tmp_path / "alone", "webdataset")
    assert "token" not in alone.redacted and b"Engine-1843" in everything(tmp_path / "alone")
    for format in FORMATS:
        for jobs in (1, 2):
            summary = export(sources, tmp_path / format, format, jobs=jobs)
            assert summary.redacted["token"] == 1
            written = everything(tmp_path / format)
            assert b"Engine-1843" not in written
            for told in (first.manifest["secret_digests"]["salt"], *first.manifest["secret_digests"]["digests"]):
                assert told.encode() not in written
            assert PLAIN.encode() in written or format in ("mind2web", "chat", "playwright", "label-studio", "agentnet")
