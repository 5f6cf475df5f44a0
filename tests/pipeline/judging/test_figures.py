"""Judges held against labels, and samples for people that tell no verdict."""

import json
from collections import Counter

import pytest

from pipeline.judging.figures import figures
from pipeline.judging.labels import Candidate, drawn, read_labels, sample_lines
from pipeline.judging.model_judge import Judgement
from schemas import InputError


def judgement(number: int, verdict: str, judge: str = "kind", tokens: int | None = 10) -> Judgement:
    return Judgement(f"rec-{number}", judge, "127.0.0.1", verdict, "", float(number), tokens, None, "0" * 64)


def test_figures_of_one_judge():
    # 12 success-success, 3 success-failure, 1 success-unknown, 2 failure-success, 8 failure-failure, one of another
    # judge, one without a label, one label without a judgement
    said = ["success"] * 12 + ["failure"] * 3 + ["unknown"] + ["success"] * 2 + ["failure"] * 8
    made = [*(judgement(number, verdict) for number, verdict in enumerate(said)), judgement(0, "failure", "other"),
            judgement(99, "success", tokens=None)]
    labels = {f"rec-{number}": number < 16 for number in range(26)} | {"rec-77": True}
    told = figures("kind", made, labels, 2)
    assert (told.judged, told.failed, told.labelled) == (27, 2, 26)
    assert told.verdicts == {"success": 15, "failure": 11, "unknown": 1}
    assert told.confusion == {"success": {"success": 12, "failure": 3, "unknown": 1},
                              "failure": {"success": 2, "failure": 8, "unknown": 0}}
    assert told.agreement == 20 / 26
    by_chance = (16 * 14 + 10 * 11) / 26 ** 2  # Cohen (1960): the products of how often each said it
    assert told.kappa == pytest.approx((20 / 26 - by_chance) / (1 - by_chance))
    assert told.low < told.kappa < told.high and told == figures("kind", made[::-1], labels, 2)
    assert (told.median_seconds, told.prompt_tokens, told.completion_tokens) == (13.0, 260, None)


def test_where_there_is_nothing_to_tell():
    told = figures("kind", [], {"rec-1": True})
    assert (told.labelled, told.agreement, told.kappa, told.low, told.median_seconds) == (0, None, None, None, None)
    told = figures("kind", [judgement(1, "success")], {"rec-1": True})
    assert (told.agreement, told.kappa, told.low) == (1.0, None, None)


def test_labels_are_read_and_what_is_none_is_named(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"id": "a", "success": true, "by": "ann"}\n\n{"id": "b", "success": null}\n'
                    '{"id": "c", "success": false}')
    assert read_labels(file) == {"a": True, "c": False}
    for line, told in (('{"id": "a", "success": false}', "line 2: field id: 'a' is labelled twice"),
                       ("x", "line 2: not JSON"), ("[" * 99999, "line 2: not JSON"), ("[]", "line 2"),
                       ('{"id": "b"}', "line 2: field success"), ('{"id": "b", "success": "yes"}', "field success"),
                       ('{"id": "b", "success": 1.5}', "field success")):
        file.write_text('{"id": "a", "success": true}\n' + line + "\n")
        with pytest.raises(InputError, match=told):
            read_labels(file)


def test_a_sample_has_of_each_site_its_share():
    sites = ["shop.example"] * 60 + ["air.example"] * 30 + ["map.example"] * 9 + [""]
    given = [Candidate(f"rec-{number}", site, "Task", f"there/{number}") for number, site in enumerate(sites)]
    chosen = drawn(given, 20, 1)
    assert Counter(each.site for each in chosen) == {"shop.example": 12, "air.example": 6, "map.example": 2}
    assert chosen == drawn(given[::-1], 20, 1) != drawn(given, 20, 2)
    assert [each.site for each in chosen] != sorted(each.site for each in chosen)  # in no order that tells something
    assert len(drawn(given, 1, 1)) == 1 and len(drawn(given, 500, 1)) == 100 and drawn([], 5, 1) == []
    for count in range(1, 101):
        shares = Counter(each.site for each in drawn(given, count, 7))
        assert shares.total() == count and abs(shares["shop.example"] - 0.6 * count) <= 1


def test_lines_of_a_sample_are_labels_to_be_filled_in(tmp_path):
    lines = sample_lines([Candidate("rec-1", "air.example", "Läden", "there")])
    assert json.loads(lines) == {"id": "rec-1", "site": "air.example", "task": "Läden", "path": "there",
                                 "success": None}
    (tmp_path / "sample.jsonl").write_bytes(lines.replace(b"null", b"true"))
    assert read_labels(tmp_path / "sample.jsonl") == {"rec-1": True}
