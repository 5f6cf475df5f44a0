"""An export in the format label-studio, imported into Label Studio itself: is all of it there, and shown?

`python -m benchmarks.label_studio.import_export [--installed DIR]` exports the kept recording, installs Label Studio
from PyPI into an environment of its own below --installed, and serves it with the export as its folder of local files.
Over its HTTP API a project gets `label_config.xml` and a storage of `images`, `train.json` is imported as a file, and
what it then holds is compared with the file: tasks, predictions, and the bytes of every picture. The import takes
predictions that do not fit the labelling interface, too: Label Studio's SDK, which comes with it, checks those. Ends
with one line of JSON; exit code 1 if anything differs. Two minutes the first time.
"""

import argparse
import http.client
import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

from pipeline.export import Source, export
from pipeline.export.formats.label_studio import CONFIG, LOCAL_FILES
from pipeline.processing import process
from recorder import Recording

from .run import SETTINGS, TOKEN, Theirs, label_studio

_KEPT = Path(__file__).parents[2] / "tests" / "data" / "v1" / "kept"


def exported(folder: Path) -> Path:
    """An export of the kept recording."""
    shutil.copytree(_KEPT, folder / "kept")
    demonstration = process(folder / "kept")
    export([Source(demonstration, Recording(folder / "kept"))], folder / "out", "label-studio")
    return folder / "out"


def request(port: int, method: str, address: str, body: bytes | None = None, content_type: str = ""
            ) -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Authorization": f"Token {TOKEN}"} | ({"Content-Type": content_type} if content_type else {})
    connection.request(method, address, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def uploaded(port: int, project: int, path: Path) -> dict[str, Any]:
    """Import a file as its page does, and what Label Studio says of it."""
    boundary = uuid.uuid4().hex
    head = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{path.name}\"\r\n"
            "Content-Type: application/json\r\n\r\n")
    body = head.encode() + path.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    status, answer = request(port, "POST", f"/api/projects/{project}/import", body,
                             f"multipart/form-data; boundary={boundary}")
    if status != 201:
        raise SystemExit(f"Label Studio: import of {path.name}: {status}: {answer[:500]!r}")
    found: dict[str, Any] = json.loads(answer)
    return found


def misfits(installed: Path, out: Path) -> list[str]:
    """What Label Studio's SDK finds wrong in the tasks; it is installed when Label Studio was served."""
    program = Path(__file__).parents[1] / "loader_programs" / "with_label_studio_sdk.py"
    done = subprocess.run([installed / "label-studio-served" / "bin" / "python", "-I", program, out], check=True,
                          capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(port: int, lead: Theirs, project: int, out: Path) -> dict[str, int]:
    """How many tasks, predictions and pictures there are to be, and how many differ."""
    wanted = {task["data"]["turn"]: task for task in json.loads((out / "train.json").read_bytes())}
    listed = lead.ask("GET", f"/api/tasks?project={project}&fields=all&page_size=1000&resolve_uri=false")["tasks"]
    counts = {"tasks": len(wanted), "tasks_wrong": abs(len(wanted) - len(listed)), "predictions_wrong": 0,
              "pictures_wrong": 0}
    for task in listed:
        meant = wanted.get(task["data"]["turn"], {"data": {}, "predictions": []})
        counts["tasks_wrong"] += task["data"] != meant["data"]
        whole = lead.ask("GET", f"/api/tasks/{task['id']}?project={project}")
        found = [(each["model_version"], each["result"]) for each in whole["predictions"]]
        counts["predictions_wrong"] += found != [(each["model_version"], each["result"])
                                                 for each in meant["predictions"]]
        status, picture = request(port, "GET", task["data"]["image"])
        path = out / task["data"]["image"].removeprefix(LOCAL_FILES)
        counts["pictures_wrong"] += status != 200 or picture != path.read_bytes()
    return counts


def main() -> None:
    """Import, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installed", type=Path, default=Path(tempfile.gettempdir()) / "demotape-applications")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-label-studio-", ignore_cleanup_errors=True) as folder:
        out, data = exported(Path(folder)), Path(folder) / "data"
        data.mkdir()
        local = {"LOCAL_FILES_SERVING_ENABLED": "true", "LOCAL_FILES_DOCUMENT_ROOT": str(out)}
        with label_studio(given.installed, data, SETTINGS | local) as port:
            lead = Theirs(port, 0, {})
            project = lead.ask("POST", "/api/projects", {
                "title": "imported", "label_config": (out / CONFIG).read_text(encoding="utf-8")})["id"]
            lead.ask("POST", "/api/storages/localfiles", {
                "project": project, "path": str(out / "images"), "use_blob_urls": True})
            said = uploaded(port, project, out / "train.json")
            errors = misfits(given.installed, out)
            print(*errors, sep="\n", end="\n" if errors else "")
            result = compared(port, lead, project, out) | {
                "unfit_wrong": len(errors), "predictions": said["prediction_count"],
                "tasks_imported": said["task_count"]}
    print(json.dumps(result))
    sys.exit(1 if not result["tasks"] or any(result[name] for name in result if name.endswith("_wrong")) else 0)


if __name__ == "__main__":
    main()
