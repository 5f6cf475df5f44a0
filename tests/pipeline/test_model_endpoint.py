"""A model's answer is read within limits, and what fails is told in words that hold neither key nor prompt."""

import socket
import threading
import time
from dataclasses import replace

import pytest

from pipeline.judging.model_endpoint import (
    MAX_ANSWER_BYTES,
    PAUSES,
    Completion,
    ModelFailed,
    complete,
    model_settings,
    request_body,
)
from pipeline.judging.model_endpoint import ask as ask_body
from schemas import InputError
from tests.support.services.model_server import Answer, model_server, said

KEY = "sk-kept-to-oneself"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Läden?"}]


def ask(server, seconds: float = 20.0) -> tuple[str, list[float]]:
    """What is answered, or why nothing is; and the pauses that were made."""
    pauses: list[float] = []
    try:
        answer = complete(replace(model_settings(server.url, "kind-model", KEY), seconds=seconds), MESSAGES,
                          pauses.append)
    except ModelFailed as error:
        answer = str(error)
        assert answer.startswith("the model kind-model at 127.0.0.1:") and KEY not in answer and "Läden" not in answer
        answer = answer.partition(": ")[2]
    return answer, pauses


def test_messages_go_as_they_are_and_the_text_comes_back():
    with model_server(said("Ja\ud800.")) as server:
        assert ask(server) == ("Ja\ufffd.", [])
        [(path, headers, body)] = server.got
    assert path == "/v1/chat/completions" and headers["authorization"] == f"Bearer {KEY}"
    assert body == {"model": "kind-model", "messages": MESSAGES, "stream": False}
    with model_server(said("Yes")) as server:
        assert complete(model_settings(f"{server.url}/?version=2", "m"), MESSAGES) == "Yes"
        assert server.got[0][0] == "/v1/chat/completions?version=2" and "authorization" not in server.got[0][1]


@pytest.mark.parametrize("usage, told", [
    ({"prompt_tokens": 12, "completion_tokens": 3}, (12, 3)), ({"prompt_tokens": 12}, (12, None)),
    ({"prompt_tokens": -1, "completion_tokens": "3"}, (None, None)), ({"prompt_tokens": True}, (None, None)),
    ({"prompt_tokens": 10**40}, (None, None)), ([1], (None, None)), (None, (None, None))])
def test_tokens_are_told_where_they_are_numbers(usage, told):
    with model_server(said("Yes", usage=usage)) as server:
        answer = ask_body(model_settings(server.url, "m"), request_body("m", MESSAGES, temperature=0))
        assert server.got[0][2]["temperature"] == 0
    assert answer == Completion("Yes", *told)


@pytest.mark.parametrize("answer, told", [
    (Answer(401, b"Bad key sk-kept-to-oneself"), "it rejects the key"),
    (Answer(404), "unknown address or model"),
    (Answer(400, "Your Läden".encode()), "it answers 400"),
    (Answer(302, headers={"location": "/elsewhere"}), "it answers 302"),
    (Answer(body=b"<html>"), "its answer is not a chat completion"),
    (Answer(body=b"[" * 100_000), "its answer is not a chat completion"),
    (Answer(body=b'{"choices": []}'), "its answer is not a chat completion"),
    (Answer(body=b'{"choices": [{"message": "x"}]}'), "its answer is not a chat completion"),
    (Answer(body=b"9" * 10_000), "its answer is not a chat completion"),
    (said(None), "its answer has no text"), (said([1]), "its answer has no text"),
    (said(" \n"), "its answer has no text"),
    (said("[1, 2", "length"), "its answer was cut off at its token limit; request less"),
    (said("x" * MAX_ANSWER_BYTES), "its answer is larger than 1 MiB")])
def test_what_is_no_answer_is_told_and_not_asked_again(answer, told):
    with model_server(answer) as server:
        assert ask(server) == (told, []) and len(server.got) == 1


def test_who_is_busy_is_asked_again_with_pauses():
    with model_server(Answer(500), Answer(429, headers={"retry-after": "7"}), said("At last")) as server:
        assert ask(server) == ("At last", [PAUSES[0], 7.0]) and len(server.got) == 3
    with model_server(Answer(503, headers={"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"})) as server:
        assert ask(server) == ("it answers 503, after retries; try again later", [*PAUSES]) and len(server.got) == 3
    with model_server(Answer(429, headers={"retry-after": "9999"})) as server:  # longer than there is time
        assert ask(server)[1] == [] and len(server.got) == 1


@pytest.mark.parametrize("answer", [Answer(drip=0.05), Answer(body=b'{"choices"', drip=0.05)])
def test_one_that_drips_is_cut(answer):
    with model_server(answer) as server:
        begun = time.monotonic()
        assert ask(server, 0.4) == ("no answer within 0.4 seconds", []) and time.monotonic() - begun < 5


def test_one_that_says_nothing_is_left():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = replace(model_settings(f"http://127.0.0.1:{listening.getsockname()[1]}", "m"), seconds=0.3)
        with pytest.raises(ModelFailed, match="no answer within 0.3 seconds"):
            complete(settings, MESSAGES)
    with pytest.raises(ModelFailed, match="cannot connect"):
        complete(settings, MESSAGES)
    with pytest.raises(ModelFailed, match="cannot be resolved"):
        complete(replace(settings, url="http://nowhere.invalid"), MESSAGES)


def test_one_that_speaks_no_tls_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(10)
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ModelFailed, match="no secure connection"):
            complete(model_settings(f"https://127.0.0.1:{listening.getsockname()[1]}", "m"), MESSAGES)
        thread.join()


@pytest.mark.parametrize("url, name, key, told", [
    ("ftp://a", "m", "", "_URL"), ("http://", "m", "", "_URL"), ("http://[", "m", "", "_URL"),
    ("", "m", "", "_URL"),
    ("http://a b", "m", "", "_URL"), ("http://läden.example", "m", "", "_URL"), ("http://u:p@a", "m", "", "password"),
    ("http://a:port", "m", "", "port"), ("http://a", "", "", "name"), ("http://a", "x" * 91, "", "name"),
    ("http://a", "m\n", "", "name"), ("http://a", "m", "k\r\nx: y", "_KEY"), ("http://a", "m", "ключ", "_KEY")])
def test_settings_that_are_none_are_named(url, name, key, told):
    with pytest.raises(InputError, match=told) as error:
        model_settings(url, name, key)
    assert not key or key not in str(error.value)


def test_the_key_is_not_shown():
    settings = model_settings("http://127.0.0.1:8000/v1/", "m", KEY)
    assert KEY not in repr(settings) and settings.host == "127.0.0.1:8000"
