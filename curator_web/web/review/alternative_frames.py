"""The same moment in other ways: the own video's frame, what came after, other pictures, places to split typing."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from flask import Blueprint, Response, request

from curator_web.access.services import services
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.sandboxed import list_sandboxed, run_sandboxed
from pipeline.align import alternatives
from pipeline.pages import changes
from pipeline.pages.targets import candidates
from pipeline.turns import splitting
from recorder.reader import Recording
from schemas import limits
from schemas.types.recordings import Turn, TurnState

from . import adding_view, tree
from .adding_view import Adding, adding
from .blobs import immutable
from .presentation import ReviewView, TurnView

VIEWS = ("screenshot", "after", "dom", "video", "compare", "targets", "tree", "pictures",
         "split", *adding_view.VIEWS)
blueprint = Blueprint("moments", __name__)


@dataclass(frozen=True)
class MomentView:
    """What a view of one turn shows besides the turn.

    `after`: the next turn of the same tab with a screenshot, which may have been split off; `change`: what differs in
    its picture, None where that is not known. `frame`: time of the video's frame, seconds, None without a video;
    `painted`: when that frame was; `similarity`: SSIM of it and the screenshot.
    """

    view: str
    video: bool = False  # whether there is one
    after: TurnView | None = None
    frame: float | None = None
    painted: float | None = None
    similarity: float | None = None
    targets: list[dict[str, Any]] = field(default_factory=list)
    lines: list[tree.Line] = field(default_factory=list)
    screenshots: list[alternatives.Offer] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    breaks: list[splitting.Break] = field(default_factory=list)
    change: changes.Change | None = None
    network: bool = False  # whether it was kept, or the console
    adding: Adding | None = None

    @property
    def in_tree(self) -> bool:
        """Whether an element is chosen in the tree."""
        return self.view in ("tree", adding_view.FIRST_TREE)

    @property
    def chooses(self) -> bool:
        """Whether an element is chosen."""
        return self.in_tree or self.view in ("targets", adding_view.FIRST)


@blueprint.get("/frames/<recording_id>/<int:milliseconds>")
def frame(recording_id: str, milliseconds: int) -> Response:
    """What the recording's own video shows at a time, as a picture."""
    recording = services().store.open(recording_id)
    if milliseconds > limits.SECONDS * 1000:
        raise NotFound(ErrorText("too long for a recording"))
    return immutable(run_sandboxed(alternatives.frame_file, recording, milliseconds / 1000)[1], "image/jpeg")


@blueprint.get("/frames/<recording_id>/external/<int:milliseconds>")
def external_frame(recording_id: str, milliseconds: int) -> Response:
    """What the external video shows at a time of its own, as a picture."""
    recording = services().store.open(recording_id)
    if milliseconds > limits.SECONDS * 1000:
        raise NotFound(ErrorText("too long for a video"))
    if not services().store.has_external_video(recording_id):
        raise NotFound(ErrorText("the external video is not stored here"))
    response = immutable(run_sandboxed(alternatives.external_frame_file, recording, milliseconds / 1000), "image/jpeg")
    response.headers["Cache-Control"] = "private, max-age=600"  # processing again may bring another video
    return response


def moment_view(review_view: ReviewView, view: str) -> MomentView:
    """What the selected turn's view needs; raises InputError for a view that does not exist."""
    if view not in VIEWS:
        raise InputError(ErrorText("view: unknown view %(view)r; choose from "
                                   "%(which)s", view=view[:40], which=", ".join(VIEWS)))
    turn = review_view.selected
    if turn and view in adding_view.VIEWS:
        return _adding(review_view, turn, view)
    if turn is None or turn.is_chat or not turn.state:
        return MomentView("screenshot")
    store, name = services().store, review_view.row.recording
    plain = MomentView(view, store.has_video(name), _after(review_view, turn),
                       network=store.has_network(name) or store.has_console(name))
    return replace(plain, **_SHOWN[view](turn, store.open(name), plain)) if view in _SHOWN else plain


def _adding(review_view: ReviewView, turn: TurnView, view: str) -> MomentView:
    """A step of adding an action: in another page than the turn's, perhaps."""
    recording = services().store.open(review_view.row.recording)
    step = adding(review_view, turn, view, recording)
    plain = MomentView(view, adding=step)
    if step.shown is None or not plain.chooses:
        return plain
    return replace(plain, **_SHOWN["tree" if plain.in_tree else "targets"](step.shown, recording, plain))


def _frame(turn: TurnView, recording: Recording, plain: MomentView) -> dict[str, Any]:
    state = turn.turn["state"] if turn.turn["type"] == "browser" else None
    if not plain.video or state is None:
        return {}
    time = _time(turn)
    painted, similarity = list_sandboxed(_compared, recording, state, time)
    return {"frame": time, "painted": painted, "similarity": similarity}


def _compared(recording: Recording, state: TurnState, time: float) -> tuple[float, float | None]:
    painted, picture = alternatives.frame(recording, time)
    return painted, alternatives.similarity(recording, state, picture)


def _other_pictures(turn: TurnView, recording: Recording, plain: MomentView) -> dict[str, Any]:
    """Pictures that may replace the turn's: other screenshots, and times of the video's frames shortly before it."""
    times = [turn.turn["timestamp"] - before for before in alternatives.BEFORE] if plain.video else []
    return {"screenshots": list_sandboxed(alternatives.screenshots, recording, turn.turn),
            "frames": [time for time in times if time >= 0]}


def _change(turn: TurnView, recording: Recording, plain: MomentView) -> dict[str, Any]:
    if not plain.after or not turn.state["screenshot"]:
        return {}
    with suppress(InputError):  # a picture that is missing or too large costs its outlines, not the view
        return {"change": list_sandboxed(changes.changed_areas_of, recording, turn.state["screenshot"],
                                         plain.after.state["screenshot"], turn.size[0])}
    return {}


_SHOWN = {
    "after": _change,
    "video": _frame,
    "compare": lambda turn, recording, plain: _frame(turn, recording, plain) | _change(turn, recording, plain),
    "pictures": _other_pictures,
    "targets": lambda turn, recording, _: {"targets": _targets(turn, recording)},
    "tree": lambda turn, recording, _: {"targets": _targets(turn, recording), "lines": _lines(turn, recording)},
    "split": lambda turn, recording, _: {"breaks": list_sandboxed(splitting.breaks, recording, turn.turn)},
}


def _time(turn: TurnView) -> float:
    """The moment that a turn's picture shows, seconds of the recording."""
    picture_time = turn.state["screenshot_time"]
    return turn.turn["timestamp"] if picture_time is None else min(picture_time, turn.turn["timestamp"])


def _after(review_view: ReviewView, turn: TurnView) -> TurnView | None:
    turns, tab = review_view.review.turns, turn.state["tab"]
    index = next((index for index in range(turn.number, len(turns)) if _is_shown(turns[index], tab)), None)
    if index is not None:
        return review_view.turn_at(index)
    return next((following for following in review_view.split_off if _is_shown(following.turn, tab)), None)


def _is_shown(turn: Turn, tab: int) -> bool:
    """Whether a turn has a screenshot of a tab."""
    state = turn["state"] if turn["type"] == "browser" else None
    return bool(state and state["screenshot"] and state["tab"] == tab)


def _lines(turn: TurnView, recording: Recording) -> list[tree.Line]:
    """The page, opened at the present target."""
    page_tree = tree.of_state(recording, turn.state)
    return page_tree.lines(opened=page_tree.way(page_tree.find(turn.uid)))


def _targets(turn: TurnView, recording: Recording) -> list[dict[str, Any]]:
    """What a turn can be about: what a person could act on, or all that was in sight; each with a number."""
    rows = list_sandboxed(candidates, recording, turn.state)
    present = turn.uid
    if not request.args.get("all"):
        rows = [row for row in rows if row["clickable"] or row["uid"] == present]
    return [row | {"number": number, "present": row["uid"] == present,
                   "area": row["bbox"]["width"] * row["bbox"]["height"]} for number, row in enumerate(rows, 1)]
