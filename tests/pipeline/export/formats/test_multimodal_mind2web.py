"""The export in the columns of Multimodal-Mind2Web, as `datasets` sees it."""

import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import export

from .test_mind2web import exported, tasks  # noqa: F401  (a fixture)

COLUMNS = ["action_uid", "raw_html", "cleaned_html", "operation", "pos_candidates", "neg_candidates", "website",
           "domain", "subdomain", "annotation_id", "confirmed_task", "screenshot", "action_reprs",
           "target_action_index", "target_action_reprs"]


def test_rows_are_the_actions_of_the_task_files(exported, tmp_path):  # noqa: F811
    summary = export(exported[0], tmp_path / "out", "multimodal-mind2web", shard_size=30_000)
    rows = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["train"]
    assert list(rows.features) == COLUMNS and summary.samples == len(rows) == 18
    wanted = [(task, place, action) for task in tasks(exported[2]) for place, action in enumerate(task["actions"])]
    for row, (task, place, action) in zip(rows, wanted, strict=True):
        assert (row["annotation_id"], row["action_uid"]) == (task["annotation_id"], action["action_uid"])
        assert row["cleaned_html"] == action["cleaned_html"] and json.loads(row["operation"]) == action["operation"]
        assert row["action_reprs"] == task["action_reprs"] and row["target_action_index"] == str(place)
        assert row["target_action_reprs"] == task["action_reprs"][place]
        assert row["screenshot"].size == (640, 400)
        assert len(row["neg_candidates"]) == len(action["neg_candidates"])
        [target], [in_page] = row["pos_candidates"], action["pos_candidates"]
        here, there = (json.loads(each["attributes"]).pop("bounding_box_rect").split(",")
                       for each in (json.loads(target), in_page))
        assert float(there[1]) - float(here[1]) == 10 and here[2:] == there[2:]  # the page was scrolled by ten
