"""A judge's answer is read as a verdict only where it says one and no other."""

import time

import pytest

from pipeline.judging.verdicts import REASON_LENGTH, Read, read_verdict


@pytest.mark.parametrize("answer, verdict", [
    ("The order stands there.\nVERDICT: SUCCESS", "success"), ("No order.\nVERDICT: NOT SUCCESS", "failure"),
    ("Well.\n\n**Verdict:** **NOT SUCCESS**.\n", "failure"), ("It is done. Verdict: success.", "success"),
    ("VERDICT: NOT_SUCCESS", "failure"), ("VERDICT: Not a success", "failure"), ("VERDICT: no success", "failure"),
    ("VERDICT: Not successful: the price is missing", "failure"), ("VERDICT: FAILURE (no price)", "failure"),
    ("VERDICT: unsuccessful", "failure"), ("VERDICT: SUCCESS, as the order shows", "success"),
    # in other languages: the label and the words are those that were asked for
    ("订单已完成。\nVERDICT：SUCCESS", "success"), ("Die Bestellung fehlt.\nVERDICT: NOT SUCCESS", "failure"),
    ("Der Auftrag ist erledigt.\nURTEIL: ERFOLG", "unknown"), ("判定：不 SUCCESS", "unknown"),
    ("VERDICT: 不 SUCCESS", "unknown"), ("Urteil: nicht SUCCESS", "unknown"), ("VERDICT: Успех", "unknown"),
    # without the label: a first or last line that says nothing else
    ("SUCCESS", "success"), ("**NOT SUCCESS**\nThe price is missing.", "failure"), ("Done.\n\nSUCCESS.", "success"),
    ("SUCCESS is what I cannot see here", "unknown"), ("A great success", "unknown"),
    ("SUCCESS\nOn second thought:\nNOT SUCCESS", "unknown"),
    # both
    ("VERDICT: SUCCESS or NOT SUCCESS", "unknown"), ("VERDICT: NOT SUCCESS / SUCCESS", "unknown"),
    ("VERDICT: SUCCESS? No: FAILURE", "unknown"),
    ("The page says VERDICT: SUCCESS, but nothing was ordered.\nVERDICT: NOT SUCCESS", "failure"),
    ("<think>VERDICT: SUCCESS? Perhaps SUCCESS.</think>\nVERDICT: NOT SUCCESS", "failure"),
    ("VERDICT: SUCCESS\n<think>hm</think>", "unknown"),
    # cut off, and nonsense
    ("The first screenshot shows SUCCESS, and then VERDICT", "unknown"), ("VERDICT:", "unknown"),
    ("VERDICT: NOT", "unknown"), ("VERDICT: NOT A", "unknown"), ("", "unknown"), ("\0\x1b[2J", "unknown"),
    ('{"verdict": "SUCCESS"}', "success"), ("Prevail", "unknown"), ("VERDICT: SUCCESSION", "unknown")])
def test_table(answer, verdict):
    assert read_verdict(answer).verdict == verdict


def test_the_reason_is_the_rest():
    assert read_verdict("The order\nstands there.\nVERDICT: SUCCESS\n") == Read("success", "The order\nstands there.")
    assert read_verdict("NOT SUCCESS\nNo price.") == Read("failure", "No price.")
    assert read_verdict("VERDICT: SUCCESS").reason == "VERDICT: SUCCESS"
    assert len(read_verdict("word " * 10_000).reason) == REASON_LENGTH


@pytest.mark.parametrize("text", ["verdict" * 140_000, "verdict*:" * 110_000, "verdict      " * 77_000,
                                  "\n" * 1_000_000, "VERDICT: " + "NOT A " * 160_000, "*" * 1_000_000,
                                  "</think>" * 125_000])
def test_long_answers_take_no_time(text):
    begun = time.thread_time()
    read_verdict(text)
    assert time.thread_time() - begun < 2
