"""Signals of a live room: labels, and how long each role was waited for."""

import pytest

from pipeline.chat.signals import labels_of, signals_of, waiting_seconds, with_signals


def chat(time: float, speaker: str, dropped: bool = False) -> dict:
    return {"type": "chat", "timestamp": time, "speaker": speaker, "dropped": dropped}


def action(time: float) -> dict:
    return {"type": "browser", "timestamp": time, "dropped": False}


def signal(time: float, speaker: str, kind: str, **fields) -> dict:
    return {"time": time, "speaker": speaker, "signal": kind, **fields}


@pytest.mark.parametrize(("turns", "signals", "navigator", "instructor"), [
    ([], [], 0, 0),
    ([chat(1, "instructor"), action(4), action(9)], [], 3, 0),
    ([chat(1, "instructor"), chat(2, "instructor"), chat(6, "navigator"), chat(10, "instructor")], [], 5, 4),
    ([chat(1, "instructor"), action(2), action(3)], [signal(5, "navigator", "your_turn"),
                                                     signal(12, "instructor", "your_turn")], 1, 7),
    ([chat(1, "navigator")], [], 0, 0),  # nobody answered
    ([chat(1, "instructor", dropped=True), action(4)], [], 0, 0),
    ([chat(5, "navigator")], [signal(5, "navigator", "help"), signal(8, "instructor", "your_turn")], 0, 3),
    ([action(9), chat(1, "instructor")], [], 8, 0),  # in any order
])
def test_waiting_is_from_a_message_to_the_others_next_move(turns, signals, navigator, instructor):
    assert waiting_seconds(turns, signals) == {"navigator": navigator, "instructor": instructor}


def test_signals_become_labels_of_the_demonstration():
    lines = [{"time": 1, "speaker": "navigator", "utterance": "x"},
             {"time": 2, "speaker": "navigator", "utterance": "lost", "signal": "help", "id": "a", "received": 2},
             {"time": 3, "speaker": "navigator", "utterance": "", "signal": "done", "success": True},
             {"time": 4, "speaker": "instructor", "utterance": "not red", "signal": "done", "success": False}]
    signals = signals_of(lines)
    assert signals == [signal(2, "navigator", "help"), signal(3, "navigator", "done", success=True),
                       signal(4, "instructor", "done", success=False)]
    assert labels_of(signals) == {"outcome": ["failure"], "help": ["navigator"]}  # the last word
    assert labels_of([signal(1, "navigator", "your_turn")]) == {}
    demonstration = {"turns": [], "labels": {"difficulty": ["easy"]}}
    assert with_signals(demonstration, []) is demonstration
    assert with_signals(demonstration, signals)["labels"] == {
        "difficulty": ["easy"], "outcome": ["failure"], "help": ["navigator"]}
