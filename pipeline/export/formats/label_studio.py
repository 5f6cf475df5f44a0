"""Label Studio's tasks: `<split>.json`, one task for each action with its target on the screenshot;
`label_config.xml`."""

from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.export.grammars.acts import picture_size
from pipeline.export.running import Files
from pipeline.export.source import File, Line, Options, Source, Tally
from pipeline.export.splits import SPLITS
from pipeline.export.states import States
from schemas import BROWSER_INTENTS, UID_ATTRIBUTE
from schemas.files import dump_line
from schemas.types import Question
from schemas.types.recordings import Box, BrowserTurn, Size, TurnState

from . import documents, features, layouts
from .card import Counted, Counts, Words
from .label_studio_answers import annotations, controls
from .lines import WriteOnce

LOCAL_FILES = "/data/local-files/?d="  # Label Studio serves there what lies below its LOCAL_FILES_DOCUMENT_ROOT
CONFIG = "label_config.xml"
_ABOUT = """One task an action for Label Studio: the screenshot before it, and as a prediction the target's rectangle
(percent of the picture), the intent, and what was typed or chosen; people's answers to questions are annotations.
`label_config.xml` is the labelling interface. `image` is the path of a picture below this folder, as Label Studio asks
for local files."""
_CONFIG = """<View>
  <Header value="Task"/>
  <Text name="about" value="$task" valueType="text"/>
  <Header value="Said before" size="5"/>
  <Text name="chat" value="$said" valueType="text"/>
  <Header value="Address" size="5"/>
  <Text name="address" value="$url" valueType="text"/>
  <RectangleLabels name="target" toName="screenshot">
    <Label value="target"/>
  </RectangleLabels>
  <Image name="screenshot" value="$image" zoom="true" zoomControl="true"/>
  <Header value="Intent" size="5"/>
  <Choices name="intent" toName="screenshot" choice="single" showInline="true" required="true">
{choices}
  </Choices>
  <Header value="Text that was typed, pasted or chosen; key that was pressed" size="5"/>
  <TextArea name="text" toName="screenshot" rows="2" maxSubmissions="1" editable="true"/>
{questions}</View>
"""


def label_config(questions: Sequence[Question] = ()) -> str:
    """The labelling interface that fits the tasks, as Label Studio's XML; nothing in it is captured."""
    return _CONFIG.format(choices="\n".join(f'    <Choice value="{intent}"/>' for intent in BROWSER_INTENTS),
                          questions="".join(f"{line}\n" for line in controls(questions)))


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Line | Counted]:
    """The tasks of one demonstration, each picture before the task that names it; equal pictures are written once."""
    states, once = States(source, UID_ATTRIBUTE, options, "jpg"), WriteOnce()
    source = states.source
    tally.redacted += states.known.counts
    said: list[str] = []
    for index, turn in enumerate(source.turns):
        if turn["type"] == "chat":
            said.append(f"{turn['speaker']}: {turn['utterance']}")
            tally.notes["chat: told in the task after it"] += 1
            continue
        shown = _shown(turn, states)
        if isinstance(shown, str):
            tally.left_out[f"{turn['intent']}: {shown}"] += 1
            continue
        state, picture, size, rectangle = shown
        path = once.path(f"images/{source.name}-{index:04d}.{states.kind}", picture)
        data = {"image": LOCAL_FILES + path, "task": source.demonstration["task"], "said": "\n".join(said),
                "url": state["url"], "title": state["title"], "demonstration": source.id, "turn": turn["id"],
                "intent": turn["intent"], "text": text_of(turn)}
        yield from once.take_waiting()
        answers = annotations(source.demonstration.get("answers", []), source.questions, turn["id"], _common(size))
        yield Line(f"{source.split}.json", dump_line({
            "data": data, "annotations": answers,
            "predictions": [{"model_version": "recorded", "result": _result(data, size, rectangle)}]}))
        yield Counted(turn["intent"], "good")
        tally.turns += 1
        said = []
    if said:
        tally.notes["chat: told in the task after it"] -= len(said)
        tally.left_out["chat: no task after it"] += len(said)
    tally.pictures_left_out = len(states.pictures_left_out)


class Writer(Files):
    """Writes the tasks of each split as one JSON list, and at the end the labelling interface and what describes it."""

    def __init__(self, destination: Any, options: Options):
        super().__init__(destination, options)
        self._counts = Counts()
        self._questions: tuple[Question, ...] = ()

    def write(self, source: Source, sample: Any) -> None:
        if isinstance(sample, Counted):
            self._counts.turn(source, sample)
        elif isinstance(sample, Line):
            before = b"," if sample.path in self._shared else b"["
            super().write(source, Line(sample.path, before + sample.content))
            self._shared[sample.path].samples += 1
        else:
            super().write(source, sample)

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)
        self._questions = source.questions

    def finish(self) -> None:
        files = {split: f"{split}.json" for split in SPLITS if f"{split}.json" in self._shared}
        for file in self._shared.values():
            file.write(b"]\n")
        self._open.close()  # the lists are complete, and can be told
        self.destination.write(CONFIG, label_config(self._questions).encode())
        documents.write(self.destination, self.options, self._counts, Words("action", "intent", _ABOUT), files,
                        layouts.labelling(files, CONFIG, self.options.screenshots or "jpg"), features.label_studio())


def rectangle_of(box: Box, viewport: Size, size: Size) -> dict[str, float] | None:
    """A box (CSS pixels) in percent of a picture of that size, without what lies outside; None where all of it does."""
    if not viewport["width"]:
        return None
    scale = size["width"] / viewport["width"]

    def percent(pixels: float, length: int) -> float:
        return min(max(100 * pixels * scale / length, 0.0), 100.0)

    left, right = (percent(box["x"] + more, size["width"]) for more in (0, box["width"]))
    top, bottom = (percent(box["y"] + more, size["height"]) for more in (0, box["height"]))
    if right <= left or bottom <= top:
        return None
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def text_of(turn: BrowserTurn) -> str:
    """What was typed, pasted, chosen or pressed; empty for other actions."""
    arguments = turn["arguments"]
    if "checked" in arguments:
        return "checked" if arguments["checked"] else "not checked"
    if "files" in arguments:
        return "\n".join(arguments["files"])
    return str(next((arguments[name] for name in ("text", "label", "value", "key") if name in arguments), ""))


def _shown(turn: BrowserTurn, states: States) -> tuple[TurnState, bytes, Size, dict[str, float]] | str:
    """The state, its good picture with the size, and where the target is in it; or the reason why there is none."""
    state, element = turn["state"], turn["element"]
    if element is None or element["bbox"] is None:
        return "no element with a box"
    picture = states.picture(state) if state and state["screenshot_status"] == "good" else None
    size = picture_size(picture)
    if state is None or picture is None or size is None:
        return "no good screenshot"
    rectangle = rectangle_of(element["bbox"], state["viewport"], size)
    return (state, picture, size, rectangle) if rectangle else "target outside of the screenshot"


def _common(size: Size) -> dict[str, Any]:
    """What every result has."""
    return {"to_name": "screenshot", "original_width": size["width"], "original_height": size["height"],
            "image_rotation": 0}


def _result(data: dict[str, str], size: Size, rectangle: dict[str, float]) -> list[dict[str, Any]]:
    """The prediction's regions: rectangle, intent and, where there is one, the text."""
    values: list[tuple[str, str, dict[str, Any]]] = [
        ("target", "rectanglelabels", rectangle | {"rotation": 0, "rectanglelabels": ["target"]}),
        ("intent", "choices", {"choices": [data["intent"]]})]
    if data["text"]:
        values.append(("text", "textarea", {"text": [data["text"]]}))
    return [_common(size) | {"id": name, "from_name": name, "type": type_, "value": value}
            for name, type_, value in values]
