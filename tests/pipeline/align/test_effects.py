"""When a page changes, as a video shows it, and whether actions are the cause."""

import av
import cv2
import numpy as np

from pipeline.align.clock import effects
from pipeline.align.layout.layout import Layout
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.video import Video

SIZE, FPS = (640, 400), 20
ACTIONS = [0.52 + 0.73 * number for number in range(8)]


def film(path, *, effect: bool) -> Video:
    """A page that changes 0.05 s after each action, or not, and a pointer that wanders over it all the time."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for number in range(FPS * 7):
            picture = np.full((*SIZE[::-1], 3), 230, np.uint8)
            shown = sum(number / FPS >= time + 0.05 for time in ACTIONS) if effect else 0
            cv2.putText(picture, f"state {shown}", (80, 200), cv2.FONT_HERSHEY_SIMPLEX, 3, (40, 40, 40), 6)
            at = np.array([300 + 200 * np.sin(number), 330 + 40 * np.cos(number)]).astype(int)
            cv2.fillPoly(picture, [at + np.array([(0, 0), (0, 17), (12, 12)])], (0, 0, 0))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode())
    return Video(path)


def onsets(video: Video) -> list[tuple[float, float]]:
    layout = Layout.always(Rectangle(0, 0, 1, 1))
    return effects.onsets(video, layout, SIZE, np.zeros(SIZE[::-1], bool), [(0, 7)])


def test_a_pointer_that_wanders_hides_no_effect(tmp_path):
    changes = onsets(film(tmp_path / "v.mp4", effect=True))
    assert len(changes) == len(ACTIONS)
    assert effects.is_caused_by_action(changes, ACTIONS) == 1
    assert effects.is_caused_by_action(changes, [time + 0.3 for time in ACTIONS]) == 0


def test_where_nothing_else_changes_the_pointer_counts(tmp_path):
    assert len(onsets(film(tmp_path / "v.mp4", effect=False))) >= 1
