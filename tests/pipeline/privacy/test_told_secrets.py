"""A secret that was typed in one session and stands in plain text in another: it is in no export of both."""

import random

import pytest

from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.privacy import recorded_secrets
from pipeline.privacy.recorded_secrets import RecordedSecrets
from recorder import Recording
from schemas.secret_digests import LONGEST, PRIME, digest_entry, sum_of
from tests.pipeline.privacy.test_redacting import everything

SECRET, PLAIN = "Engine-1843 & <x>", "unchanged words"
FORM = "<form action=/two><label>Password <input type=password name=p></label><button>Go</button></form>"
NOTES = ("<!DOCTYPE html><title>Notes</title><p id=n>The account is ada, Engine-1843 &amp; &lt;x&gt; as ever.</p>"
         "<p title='Engine-1843 &amp; &lt;x&gt;'>Hover</p><textarea>unchanged words</textarea><button>Go</button>"
         "<script>fetch('/data').then(a => a.json())</script>")


@pytest.mark.parametrize("value", ["hunter22!", "zwölf Boxkämpfer", "パスワード1", "ab\ud800cdef1", "x" * LONGEST])
def test_what_was_told_is_found_wherever_it_stands(value):
    around = "".join(random.Random(1).choices("abc 123é", k=20_000))
    found = RecordedSecrets([digest_entry(value), digest_entry("another-1")]).find([around, f"so:{value}.",
                                                                                    around + value])
    assert found == [value]
    assert RecordedSecrets([digest_entry(value)]).find([around, value[:-1], value[1:]]) == []


def test_a_sum_is_that_of_the_search_at_every_place():
    content = random.Random(2).randbytes(3 * PRIME)
    for start in (0, 1, 77, PRIME - 3, 2 * PRIME + 5, len(content) - 12):
        total = sum_of(content[start:start + 12])
        assert (start, total) in recorded_secrets._candidate_positions(content, 12, (total,))


def test_too_long_ones_are_not_told_and_nothing_told_costs_nothing():
    assert digest_entry("x" * (LONGEST + 1)) is None
    assert RecordedSecrets().find(["text"] * 10) == [] and RecordedSecrets().digest == ""


def test_hostile_sums_do_not_cost_hours(monkeypatch):
    proofs = []
    monkeypatch.setattr(recorded_secrets, "_digest_of", lambda stretch: proofs.append(stretch) or "")
    text = "".join(random.Random(3).choices("abcdefghij", k=50_000)).encode()
    hostile = [{"length": 6, "sum": sum_of(text[at:at + 6]), "digest": f"{7:032x}"} for at in range(0, 40_000, 7)]
    RecordedSecrets(hostile).find([text.decode()])
    assert len(proofs) == recorded_secrets._MAX_CANDIDATES


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
    assert len(first.manifest["secret_digests"]) == 1 and "secret_digests" not in second.manifest
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
            assert first.manifest["secret_digests"][0]["digest"].encode() not in written
            assert PLAIN.encode() in written or format in ("mind2web", "chat", "playwright", "label-studio")
