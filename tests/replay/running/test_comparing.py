"""How a page is held against the recorded one: what a page makes at random itself is another value each time."""

import pytest

from replay.archive.exchanges import Archive, Channel, Message, Recorded
from replay.running.comparing import compare, facts
from replay.serving.volatile_values import not_of_the_page

MADE, GIVEN, TYPED, HEARD = "5818b6361a4c2a3f", "0f3c2b7a91de4c55", "77aa88bb99cc00dd", "c0ffee1234567890"
OTHER = "e8a3d55f32c08a01"
_PLACE = {"x": 0.0, "y": 0.0}
_TEXTS = ("Content-Type", "application/json"),


def _archive() -> Archive:
    def exchange(number: int, sent: bytes | None, answer: bytes) -> Recorded:
        return Recorded(number, float(number), "POST" if sent else "GET", "https://a.example/flows", 200,
                        lambda: answer, _TEXTS, body=sent)

    channel = Channel(1, 0.0, "websocket", "wss://a.example/", (Message(0.5, "received", f'{{"id": "{HEARD}"}}'),))
    return Archive((exchange(1, None, f'{{"id": "{GIVEN}"}}'.encode()),
                    exchange(2, f'{{"id": "{MADE}"}}'.encode(), b""),
                    exchange(3, None, f'[{{"id": "{MADE}"}}, {{"id": "{GIVEN}"}}]'.encode())), (channel,))


def _verdict(recorded: str, now: str, page: str = "<h1>Flows</h1><p id=node-{0}>Node {0}<input value='{0}'>") -> str:
    address = "https://a.example/#flow/{0}"
    return compare(facts(page.format(recorded)), facts(page.format(now)),
                   (address.format(recorded), address.format(now)), (_PLACE, _PLACE),
                   not_of_the_page(_archive(), [f"order {TYPED}"])).verdict


@pytest.mark.parametrize("value, verdict", [
    (MADE, "same"), (GIVEN, "differs"), (TYPED, "differs"), (HEARD, "differs"), ("lamp", "differs"), ("12", "differs")])
def test_what_a_page_made_itself_may_be_another_value(value, verdict):
    assert _verdict(value, OTHER) == verdict


def test_what_is_random_stands_for_nothing_else():
    assert _verdict(MADE, "lamp") == _verdict("lamp", OTHER) == "differs"
    page = "<p id={0}>One</p><p>Two</p>"
    assert compare(facts(page.format(MADE)), facts(page.format(OTHER) + f"<p>{OTHER}</p>"), ("/", "/"),
                   (_PLACE, _PLACE), not_of_the_page(_archive(), [])).verdict != "same"


def test_without_a_recorded_network_nothing_is_taken_for_random():
    page = f"<p>{MADE}</p>"
    assert compare(facts(page), facts(page.replace(MADE, OTHER)), ("/", "/"), (_PLACE, _PLACE)).verdict == "differs"


@pytest.mark.parametrize("one, other", [(":r1:", ":rk:"), ("radix-:r5:-tab", "radix-:r14:-tab"), ("«r1»", "«ra»"),
                                        ("_r_1_", "_r_1c_"), ("aria7-:r0:", "aria7-:R2:")])
def test_what_an_id_counts_by_the_order_of_rendering_may_differ(one, other):
    page = "<p id={0}>One</p><input id={0} value=red data-demotape-focus><div id={0} data-demotape-scroll=0,9></div>"
    assert compare(facts(page.format(one)), facts(page.format(other)), ("/", "/"), (_PLACE, _PLACE)).verdict == "same"
    page = "<p>{0}</p><input id=i value={0}>"
    assert compare(facts(page.format(one)), facts(page.format(other)), ("/", "/"),
                   (_PLACE, _PLACE)).verdict == "differs"


def test_a_popover_that_is_not_open_is_another_page():
    """Its text is there either way."""
    page = "<h1>Flows</h1><div popover{}><p>A menu</div>"
    opened = page.format(" data-demotape-lifted=popover-open")
    assert _verdict("", "", opened) == "same"
    one = compare(facts(opened), facts(page.format("")), ("", ""), (_PLACE, _PLACE))
    assert (one.verdict, one.reason) == ("differs", "a control differs: div  popover-open")
