"""Which state tells of a session's beginning."""

from pipeline.turns.first_state import first_state


def state(dom: str | None, width: int) -> dict:
    return {"dom": dom, "viewport": {"width": width, "height": 493}}


def test_the_empty_page_of_a_new_tab_is_passed_over():
    empty, shown, later = state(None, 780), state("a", 1280), state("b", 900)
    assert first_state([None, empty, None, shown, later]) is shown
    assert first_state([None, empty]) is empty
    assert first_state([None]) is None and first_state([]) is None
