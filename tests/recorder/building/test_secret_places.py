"""Where secret fields stood while a frame was painted."""

from recorder.building.secret_positions import SecretFieldPositions


def box(y):
    return {"x": 0.0, "y": y, "width": 100.0, "height": 20.0}


def test_a_path_is_in_no_frame_from_the_time_on_that_is_told():
    places = SecretFieldPositions()
    for time, y in ((1.0, 10.0), (1.1, 300.0), (1.3, 500.0), (1.4, 500.0)):
        places.add_report(time, [box(y)])
    places.confirm(9.0)
    assert places.clear_from > 1.3
    assert places.path(places.clear_from - 0.01, 600) != []
    assert places.path(places.clear_from, 600) == []


def test_what_stays_or_was_left_has_no_path():
    places = SecretFieldPositions()
    places.add_report(1.0, [box(10.0)])
    places.leave()
    places.add_report(2.0, [box(90.0)])
    places.add_report(3.0, [box(90.0)])
    assert places.clear_from == 0


def test_a_report_of_one_frame_does_not_end_the_wait_for_another():
    """The busy frame reports its field last; until then the page above has reported that there is none."""
    positions = SecretFieldPositions()
    positions.add_report(0.2, [])
    positions.confirm(0.2)
    for time in (1.1, 1.5, 2.0):
        positions.add_report(time, [])
    assert not positions.covers(1.0, may_move=False)
    positions.add_report(5.0, [box(90.0)])
    positions.confirm(4.0)  # what was requested then has been answered by all
    assert positions.covers(1.0, may_move=False) and box(90.0) in positions.during(1.0, 600)
