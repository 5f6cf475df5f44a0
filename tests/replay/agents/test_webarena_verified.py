"""A recorded session as a task and a run of WebArena-Verified, by the command: written, read again, scored."""

import json

import pytest
from click.testing import CliRunner

from demotape.cli import main
from recorder import Recording
from replay.archive.reading import read_archive, read_recording
from tests.support.services.site import Site

SHOP = """<!DOCTYPE html><title>Shop</title>
<form method=post action=/orders><label>Lamp <input name=lamp></label><button>Order</button></form>"""


async def order(page):
    await page.get_by_label("Lamp").fill("Zoë’s lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("Thanks").wait_for()


@pytest.fixture(scope="module")
def recorded(recording_browser):
    site = Site({"/": SHOP, "/orders": "<!DOCTYPE html><h1>Thanks</h1>"})
    yield recording_browser.record(order, url=site.origin + "/", keep={"replayable": True}).recording.layout.root, (
        f"__SHOPPING__={site.origin}")
    site.close()


def run(command, *words):
    return CliRunner().invoke(main, [*command.split(), *map(str, words)])


def test_a_task_and_a_run_are_written_and_read_again(recorded, tmp_path):
    path, site = recorded
    origin, tasks, folder = site.partition("=")[2], tmp_path / "tasks.json", tmp_path / "runs" / "7"
    checks = [{"kind": "request", "method": "POST", "match": {"exact": [origin + "/orders"]},
               "body": {"lamp": {"exact": ["Zoë’s lamp"]}}}, {"kind": "text", "match": {"includes": [["thanks"]]}}]
    file = tmp_path / "checks.json"
    file.write_text(json.dumps({"format": "demotape/outcome", "version": 1, "checks": checks}))
    done = run("outcome", path, "--checks", file, "--write-task", tasks, "--task-format", "webarena-verified",
               "--task-id", 7, "--site", site, "--write-run", folder)
    assert done.exit_code == 0 and "left out: check of kind text" in done.stderr, done.stderr
    task, = json.loads(tasks.read_text())
    assert task["task_id"] == 7 and task["sites"] == ["shopping"] and task["start_urls"] == ["__SHOPPING__/"]
    assert [each["evaluator"] for each in task["eval"]] == ["AgentResponseEvaluator", "NetworkEventEvaluator"]
    assert json.loads((folder / "agent_response.json").read_text())["task_type"] == "MUTATE"
    assert run("outcome", path, "--task", tasks, "--site", site).exit_code == 0
    unknown = run("outcome", path, "--task", tasks, "--answer", '{"task_type": "MUTATE", "status": "UNKNOWN_ERROR"}')
    assert unknown.exit_code == 1 and "pass it with --site __SHOPPING__=URL" in unknown.stderr
    assert "status is “UNKNOWN_ERROR”, not SUCCESS" in unknown.stdout


def test_the_har_of_a_run_is_what_was_recorded(recorded, tmp_path):
    path, _ = recorded
    assert run("replay export", path, tmp_path / "network.har").exit_code == 0
    har = json.loads((tmp_path / "network.har").read_text())
    posted = next(each for each in har["log"]["entries"] if each["request"]["method"] == "POST")
    assert posted["request"]["postData"]["text"] == "lamp=Zo%C3%AB%E2%80%99s+lamp"
    assert "Thanks" in posted["response"]["content"]["text"]
    recording, again = read_recording(Recording(path)), read_archive(tmp_path / "network.har")

    def told(archive):
        return [(one.method, one.url, one.status, one.headers, one.body, one.answer(), one.kind, one.top, one.tab)
                for one in archive.exchanges]

    assert told(again) == told(recording)
    assert abs(again.started - recording.started - recording.exchanges[0].time) < 0.01
