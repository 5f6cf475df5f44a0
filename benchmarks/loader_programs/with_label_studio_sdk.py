"""What Label Studio's SDK finds wrong in an export's tasks and predictions, given its label_config.xml."""

import json
import sys
from pathlib import Path

from label_studio_sdk.label_interface import LabelInterface


def main(folder: Path) -> None:
    interface = LabelInterface((folder / "label_config.xml").read_text(encoding="utf-8"))
    interface.validate()
    errors = []
    for task in json.loads((folder / "train.json").read_bytes()):
        predictions = task.pop("predictions")  # the SDK's validate_task fails on them (2.1.2)
        if not interface.validate_task(task):
            errors.append(f"{task['data']['turn']}: data")
        for each in predictions:
            errors += [f"{task['data']['turn']}: {error}"
                       for error in interface.validate_prediction(each, return_errors=True)]
    print(json.dumps(errors))


main(Path(sys.argv[1]))
