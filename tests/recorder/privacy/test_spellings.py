"""A typed secret is replaced in every spelling, in text, markup, addresses, bodies and headers."""

import json
from urllib.parse import quote

import pytest

from recorder.privacy.secret_values import Secrets
from recorder.privacy.stand_ins import StandIns
from schemas import REDACTED
from tests.pipeline.privacy.test_spellings import SPELLINGS

SECRET = "Sommer-24!"


@pytest.fixture
def secrets():
    secrets = Secrets()
    secrets.add_field_value("f", SECRET)
    return secrets


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_replaced_in_every_spelling(secrets, spelling):
    written = SPELLINGS[spelling](SECRET)
    assert secrets.in_text(f"so {written}.") == f"so {REDACTED}."
    assert secrets.in_markup(f"<p title='{written}'>a {written} b</p>") == f"<p title='{REDACTED}'>a {REDACTED} b</p>"
    assert secrets.in_request(f"x={written}&y=1") == f"x={REDACTED}&y=1"
    assert written not in secrets.in_address(f"https://x.example/{quote(written)}?q={quote(written)}#{quote(written)}")
    body = json.dumps({"a": written, "b": [f"x {written}"]})
    assert json.loads(secrets.in_body(body, "application/json")) == {"a": REDACTED, "b": [f"x {REDACTED}"]}
    stand_ins = StandIns(secrets)
    assert stand_ins.in_text(f"{written} {SECRET}") == "demotape-secret-1 demotape-secret-1"


def test_what_is_around_a_secret_stays(secrets):
    for text in ("a\u00adb &amp; %41 \\u0041 ＡＢ", "Sommer-24", "<p>Sommer&shy;</p>"):
        assert secrets.in_text(text) == secrets.in_markup(text) == secrets.in_request(text) == text
