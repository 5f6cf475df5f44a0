"""Where secret fields stood while a frame was painted."""

from recorder.building.secret_places import SecretPlaces


def box(y):
    return {"x": 0.0, "y": y, "width": 100.0, "height": 20.0}


def test_a_path_is_in_no_frame_from_the_time_on_that_is_told():
    places = SecretPlaces()
    for time, y in ((1.0, 10.0), (1.1, 300.0), (1.3, 500.0), (1.4, 500.0)):
        places.tell(time, [box(y)])
    places.confirm(9.0)
    assert places.clear_from > 1.3
    assert places.path(places.clear_from - 0.01, 600) != []
    assert places.path(places.clear_from, 600) == []


def test_what_stays_or_was_left_has_no_path():
    places = SecretPlaces()
    places.tell(1.0, [box(10.0)])
    places.leave()
    places.tell(2.0, [box(90.0)])
    places.tell(3.0, [box(90.0)])
    assert places.clear_from == 0
