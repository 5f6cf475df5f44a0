"""Multimodal-Mind2Web's Parquet: one row for each action, with its screenshot, and README.md for
`datasets.load_dataset`."""

import json
import pickle
import tempfile
from collections.abc import Iterator
from typing import Any

from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.running import SPOOL
from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import MIND2WEB, SPLITS

from . import documents, layouts
from .card import Counted, Words
from .mind2web_actions import Action, Actions
from .parquet import ParquetFiles, arrow_types, image, image_type

WORDS = Words("action", "operation", """One row an action, in the columns of Multimodal-Mind2Web: the page, its elements
and the screenshot *before* the action took effect. `operation` is JSON text, `pos_candidates` and `neg_candidates` are
lists of JSON texts. Candidates' boxes are CSS pixels from the upper left corner of the screenshot, which shows the
viewport; `-1,-1,-1,-1` is the box of an element that was out of sight.""")
_ABOUT_TASK = ("website", "domain", "subdomain", "annotation_id", "confirmed_task")


def samples(source: Source, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """One row an action. Each tells of all actions of its task, so rows wait, on the disk, until the last is made."""
    actions = Actions(source, options, tally, "jpg", of_page=False)
    texts = []
    with tempfile.SpooledTemporaryFile(SPOOL) as waiting:
        for action in actions:
            row = _row(action, actions, options)
            row["__counted__"] = action.counted(row["screenshot"] is not None)
            pickle.dump(row, waiting, pickle.HIGHEST_PROTOCOL)
            texts.append(action.text)
        waiting.seek(0)
        for index, text in enumerate(texts):
            yield pickle.load(waiting) | {
                "action_reprs": texts, "target_action_index": str(index), "target_action_reprs": text}


class Writer(ParquetFiles):
    """Writes rows, and what describes them."""

    split_names = MIND2WEB

    def columns(self) -> dict[str, Any]:
        return _columns(self.options)

    def counted(self, sample: dict[str, Any]) -> Counted:
        return sample["__counted__"]

    def turn_of(self, sample: dict[str, Any]) -> str:
        return sample["action_uid"]

    def encode(self, sample: dict[str, Any]) -> bytes:
        return super().encode({name: value for name, value in sample.items() if name != "__counted__"})

    def about(self, sample: dict[str, Any]) -> int:
        return super().about({name: value for name, value in sample.items() if name != "__counted__"})

    def name_of(self, split: str, shard: str, number: int) -> str:
        return super().name_of(MIND2WEB.get(split, split), shard, number)

    def finish(self) -> None:
        super().finish()
        names = [MIND2WEB.get(split, split) for split in SPLITS if split in self.splits]
        files = {name: f"data/{name}-*.parquet" for name in names}
        documents.write(self.destination, self.options, self.counts, WORDS, files,
                        layouts.tables(arrow_types(self.columns()), files, "action_uid"))


def _row(action: Action, actions: Actions, options: Options) -> dict[str, Any]:
    """A row but for what it tells of the other actions."""
    fields, states, state = action.fields, actions.states, action.turn["state"]
    row = {"action_uid": fields["action_uid"], "raw_html": fields["raw_html"], "cleaned_html": fields["cleaned_html"],
           "operation": json.dumps(fields["operation"]),
           "pos_candidates": [json.dumps(candidate) for candidate in fields["pos_candidates"]],
           "neg_candidates": [json.dumps(candidate) for candidate in fields["neg_candidates"]],
           **{name: actions.head[name] for name in _ABOUT_TASK},
           "screenshot": image(states.picture(state), fields["action_uid"], states.kind)}
    if options.set_of_marks:
        marked, marks = states.with_marks(state)
        row |= {"marks": json.dumps(legend(marks)),
                "marked_screenshot": image(marked, f"{fields['action_uid']}-marked", states.kind)}
    if options.axtree:
        row["axtree"] = json.dumps(states.tree(state))
    return row


def _columns(options: Options) -> dict[str, Any]:
    """Columns and their types: the published ones, and behind them those that were asked for."""
    import pyarrow

    text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
    columns = {"action_uid": text, "raw_html": pyarrow.large_string(), "cleaned_html": pyarrow.large_string(),
               "operation": text, "pos_candidates": texts, "neg_candidates": texts,
               **dict.fromkeys(_ABOUT_TASK, text), "screenshot": image_type(), "action_reprs": texts,
               "target_action_index": text, "target_action_reprs": text}
    if options.set_of_marks:
        columns |= {"marks": text, "marked_screenshot": image_type()}
    if options.axtree:
        columns["axtree"] = text
    return columns
