"""Two lists of turns beside each other, and where they part; pure."""

from curator_web.demonstrations.measuring.divergence import aligned, parting
from tests.support.curator.curator_fixtures import element


def turn(name, intent="click", target="Order", **changes):
    made = element(name=target, role="button") if target else None
    return {"id": name, "type": "browser", "intent": intent, "arguments": {}, "element": made, "dropped": False
            } | changes


def told(first, second):
    return [(step.first, step.second, step.same) for step in aligned(first, second)]


def test_the_same_way_is_the_same_all_along():
    first = [turn("a", "load", None, arguments={"url": "http://127.0.0.1:1/x"}), turn("b"),
             {"id": "c", "type": "chat", "dropped": False}, turn("d", dropped=True)]
    second = [turn("1", "load", None, arguments={"url": "http://127.0.0.1:2/x?y"}), turn("2", target="  order ")]
    assert told(first, second) == [("a", "1", True), ("b", "2", True)]
    assert parting(aligned(first, second)) is None


def test_the_first_that_differs_is_where_they_part():
    first = [turn("a"), turn("b", target="Lamp"), turn("c", "submit"), turn("d")]
    second = [turn("1"), turn("2", target="Desk"), turn("3", target="Chair"), turn("4", "submit")]
    steps = aligned(first, second)
    assert [(step.first, step.second, step.same) for step in steps] == [
        ("a", "1", True), ("b", "2", False), (None, "3", False), ("c", "4", True), ("d", None, False)]
    assert parting(steps) == 1


def test_nothing_was_done():
    assert told([], []) == [] and told([turn("a")], []) == [("a", None, False)]
