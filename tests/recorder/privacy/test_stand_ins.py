"""What is kept to be served again: a secret is the same stand-in everywhere, and nothing else is changed."""

import json

import pytest

from recorder.browser.traffic.wire_headers import Hops
from recorder.privacy.exchange_lines import line, stored_line
from recorder.privacy.har import Exchange, secrets_of
from recorder.privacy.named_secrets import named_secrets
from recorder.privacy.secret_values import Secrets
from recorder.privacy.stand_ins import StandIns

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
WORD, TOKEN = "swordfish9 &x", "tok-5551234"


def exchange(**more) -> Exchange:
    return Exchange(**{"tab": 1, "method": "POST", "url": "https://a.example/login?next=/home#top", "start": 10.0,
                       "began": 1.0, "ended": 1.5, "kind": "Document",
                       "response": {"status": 200, "mimeType": "text/html"}, "headers": _FORM} | more)


def kept(each: Exchange, secrets: Secrets):
    secrets.learn(secrets_of(each))
    return line(each, StandIns(secrets))


def test_a_secret_is_the_same_stand_in_however_it_is_written():
    secrets = Secrets()
    secrets.add_field_value("p", WORD)
    told, sent, came = kept(exchange(
        posted="name=ann&word=swordfish9+%26x", body=b"<p>Your word is swordfish9 &amp;x</p>",
        headers={"Content-Type": "application/x-www-form-urlencoded", "Cookie": "sid=s-112233445566; lang=en"},
        response_headers={"Set-Cookie": "sid=s-112233445566; Path=/; HttpOnly\nlang=en"}), secrets)
    stand_in = sent.decode().partition("word=")[2]
    assert stand_in.startswith("demotape-secret-") and came == f"<p>Your word is {stand_in}</p>".encode()
    headers = {(each["name"], each["value"]) for each in told["headers"] + told["answer_headers"]}
    cookie = next(value for name, value in headers if name == "Cookie").partition("; ")[0]
    assert ("Set-Cookie", f"{cookie}; Path=/; HttpOnly") in headers and ("Set-Cookie", "lang=en") in headers
    assert told["url"] == "https://a.example/login?next=/home" and told["status"] == 200


def test_what_holds_no_secret_stays_byte_for_byte():
    body = b'{"a": 1.50,  "b": [true, "\\u00e9"]}\n'
    told, sent, came = kept(exchange(posted=None, posted_bytes=b"\x00\xff", body=body,
                                     response={"status": 201, "mimeType": "application/json"}), Secrets())
    assert (sent, came, told["status"]) == (b"\x00\xff", body, 201)


@pytest.mark.parametrize("label", ["Password:", "user.password", "Bearer Token", "Enter your passphrase …"])
def test_an_answer_may_hold_the_word_for_a_secret_and_a_request_the_secret_itself(label):
    body = json.dumps({"password": label, "token": "letters", "pin": 1234}, ensure_ascii=False)
    _, sent, came = kept(exchange(posted=body, body=body.encode(), headers={"Content-Type": "application/json"},
                                  response={"status": 200, "mimeType": "application/json"}), Secrets())
    assert json.loads(came)["password"] == label and json.loads(sent)["password"].startswith("demotape-secret-")
    assert all(str(json.loads(came)[name]).startswith("demotape-secret-") for name in ("token", "pin"))


def test_what_failed_has_no_answer():
    told, sent, came = kept(exchange(response=None, failure="net::ERR_ABORTED"), Secrets())
    assert (told["status"], told["failure"], sent, came) == (0, "net::ERR_ABORTED", None, None)


@pytest.mark.parametrize("text, kind, found", [
    (f'<input type=hidden name="csrf_token" value="{TOKEN}">', "text/html", [TOKEN]),
    (f"<meta content='{TOKEN}' name='csrf-token'>", "text/html; charset=utf-8", [TOKEN]),
    ('<input name=password placeholder="Your password" value="">', "text/html", []),
    (f'{{"user": {{"accessToken": "{TOKEN}", "name": "ann"}}}}', "application/json", [TOKEN]),
    (f"user=ann&api_key={TOKEN}", "application/x-www-form-urlencoded", [TOKEN]),
    ("[" * 100_000, "application/json", []), ("<input " * 10_000, "text/html", [])])
def test_what_names_call_secret(text, kind, found):
    assert [each for each in named_secrets(text, kind) if each] == found


def test_what_is_stored_at_the_start_holds_no_secret():
    told = {"cookies": [{"name": "sid", "value": "s-112233445566"}, {"name": "lang", "value": "en"}],
            "origins": [{"origin": "https://a.example", "databases": [], "session_storage": [],
                         "local_storage": [{"name": "authToken", "value": TOKEN}, {"name": "theme", "value": "dark"}]}]}
    kept = stored_line(told, StandIns(Secrets()))
    values = [each["value"] for each in (*kept["cookies"], *kept["origins"][0]["local_storage"])]
    assert values == ["demotape-secret-1", "en", "demotape-secret-2", "dark"]


def test_headers_of_redirects_find_their_own_request():
    first, second, third = (exchange(headers={}) for _ in range(3))
    hops = Hops()
    hops.on_request_headers("1", {"Cookie": "a=1"})  # told before its request
    hops.on_request("1", first)
    hops.on_response("1", True)
    hops.on_request("1", second)
    hops.on_response_headers("1", {"Location": "/two"})  # of the first, told after the second began
    hops.on_response("1", False)  # from the cache: nothing is told apart
    hops.on_request("1", third)
    hops.on_response_headers("1", {"X": "3"})
    hops.on_request_headers("1", {"Cookie": "a=3"})
    hops.on_response("1", True)
    assert [each.response_headers for each in (first, second, third)] == [{"Location": "/two"}, {}, {"X": "3"}]
    assert [each.headers for each in (first, second, third)] == [{"Cookie": "a=1"}, {}, {"Cookie": "a=3"}]
