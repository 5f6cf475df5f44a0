"""Attempts at recorded tasks in one browser: actions by uid, by point and as recorded; scores; nothing is shared."""

import asyncio
import re
from dataclasses import replace

import pytest

from recorder import Recording
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import RecordedTask, TaskSet
from schemas import DemotapeError, InputError
from tests.replay.agents.lamp_shop import shop_task


@pytest.fixture(scope="module")
def task(recording_browser) -> RecordedTask:
    return shop_task(recording_browser)


def run(work):
    async def inside():
        async with EnvironmentPool(size=4) as pool:
            return await work(pool)

    return asyncio.run(inside())


def uid_of(observation, words: str) -> str:
    return re.search(rf"\[([\w-]+)\] {words}", observation.axtree)[1]


def test_the_task_is_done_by_uids(task):
    async def work(pool):
        episode, first = await pool.begin(task)
        assert "Visit 1" in first.axtree and first.url == task.start_url and first.goal == task.goal
        assert episode.score == 0
        typed = await episode.step(f"fill('{uid_of(first, 'textbox')}', 'Floor lamp')")
        assert not typed.observation.error and not typed.ended and typed.reward == 0
        pressed = await episode.step(f"click('{uid_of(typed.observation, 'button')}')")
        assert pressed.ended and pressed.reward == pressed.score == 1 and pressed.share == 1
        assert [check["holds"] for check in pressed.checks] == [True, True]
        with pytest.raises(DemotapeError, match="reset"):
            await episode.step("noop()")
        await pool.close(episode)

    run(work)


def test_recorded_actions_reach_the_score(task):
    async def work(pool):
        episode, _ = await pool.begin(task)
        uids = {element["tag"]: uid for uid, element in task.recorded_elements.items()}
        await episode.step(f'textInput(uid="{uids["input"]}", text="Floor lamp")')
        return await episode.step(f'click(uid="{uids["button"]}")')

    assert run(work).reward == 1


def test_points_of_a_computer_tool(task):
    async def work(pool):
        episode, first = await pool.begin(task, ("screenshot", "marks", "dom"))
        assert first.screenshot.startswith(b"\x89PNG") and "You ordered" not in first.dom and first.axtree is None
        picture, legend = first.marks
        assert picture.startswith(b"\x89PNG") and {mark["role"] for mark in legend.values()} >= {"textbox", "button"}
        middle = {mark["role"]: (mark["bbox"]["x"] + mark["bbox"]["width"] / 2,
                                 mark["bbox"]["y"] + mark["bbox"]["height"] / 2) for mark in legend.values()}
        await episode.step({"action": "left_click", "coordinate": list(middle["textbox"])})
        await episode.step({"type": "type", "text": "Floor lamp"})
        x, y = middle["button"]
        return await episode.step({"type": "click", "x": x, "y": y, "button": "left"})

    assert run(work).reward == 1


def test_what_is_out_of_sight_is_scrolled_to_and_missing_pages_are_counted(task):
    async def work(pool):
        episode, first = await pool.begin(task)
        step = await episode.step(f"click('{uid_of(first, 'link')}')")
        assert step.observation.url.endswith("/far") and step.score == 0
        assert list(episode.missing) == [("GET", step.observation.url)]
        chosen = await episode.step("go_back()")
        size = uid_of(chosen.observation, "combobox")
        chosen = await episode.step(f"select_option('{size}', 'Large')")
        assert not chosen.observation.error and "Large" in chosen.observation.axtree

    run(work)


@pytest.mark.parametrize(("action", "message"), [
    ("click('zz-1')", "no element of this page has the uid"), ("clik('a-1')", "invalid at character 1"),
    ({"action": "left_click"}, "coordinate"), ({"colour": 1}, "neither"),
    ({"type": "shout"}, "unknown computer action"),
    ("goto('file:///etc/passwd')", "http"), ("tab_focus(7)", "no tab"),
])
def test_what_cannot_be_done_is_said_and_the_attempt_goes_on(task, action, message):
    async def work(pool):
        episode, first = await pool.begin(task)
        step = await episode.step(action)
        assert message in step.observation.error and not step.ended
        assert step.observation.url == first.url

    run(work)


def test_waiting_takes_as_long_as_the_action_says(task, monkeypatch):
    waited = []
    sleep = asyncio.sleep

    async def note(seconds):
        waited.append(seconds)
        await sleep(0)

    async def work(pool):
        episode, _ = await pool.begin(task)
        monkeypatch.setattr("replay.agents.episode.asyncio.sleep", note)
        for action in ("noop(0)", "noop(250)", "Wait"):
            await episode._perform(action)
        monkeypatch.undo()

    run(work)
    assert waited == [0.0, 0.25, 1.0]


def test_attempts_share_nothing_and_end_by_themselves(task):
    async def work(pool):
        episodes = await asyncio.gather(*(pool.begin(task, max_steps=1) for _ in range(3)))
        assert all("Visit 1" in first.axtree for _, first in episodes)
        for episode, _ in episodes:
            assert [cookie["name"] for cookie in await episode.context.cookies()] == ["seen"]
        again, first = await pool.begin(task)
        assert "Visit 1" in first.axtree and [cookie["value"] for cookie in await again.context.cookies()] == ["0"]
        step = await episodes[0][0].step("noop()")
        assert step.truncated and not step.ended and step.score == 0
        answered = await again.step("send_msg_to_user('done')")
        assert answered.ended and answered.score == 0
        for episode, _ in episodes:
            await pool.close(episode)
        assert pool.open_episodes == 1

    run(work)


def test_a_crashed_browser_is_replaced(task):
    async def work(pool):
        episode, _ = await pool.begin(task)
        await episode.context.browser.close()
        step = await episode.step("noop()")
        assert step.score is not None or step.observation.url == "" or step.observation.error
        await pool.close(episode)
        _, first = await pool.begin(task)
        assert "Visit 1" in first.axtree and pool.replaced == 1

    run(work)


def test_tasks_by_split(task):
    tasks = TaskSet([task])
    assert tasks.splits == ["train", "all"] and tasks.task("train", 0) is task
    for split, index, message in (("trian", 0, "splits: train, all"), ("train", 1, "has 1"), ("train", -1, "has 1")):
        with pytest.raises(IndexError, match=message):
            tasks.task(split, index)
    with pytest.raises(InputError, match="two recordings"):
        TaskSet([task, task])


@pytest.mark.parametrize("record", ["actions", "full"])
def test_recorded_attempts_are_scored_alike_and_kept(task, record, tmp_path):
    async def work():
        async with EnvironmentPool(record=record, runs=tmp_path, agent="tester 1") as pool:
            episode, first = await pool.begin(task, ("axtree", "screenshot"))
            assert "Visit 1" in first.axtree and first.screenshot
            typed = await episode.step(f"fill('{uid_of(first, 'textbox')}', 'Floor lamp')")
            pressed = await episode.step(f"click('{uid_of(typed.observation, 'button')}')")
            await pool.close(episode)
            return pressed

    assert asyncio.run(work()).reward == 1
    [run] = tmp_path.iterdir()
    kept = Recording(run)
    assert kept.manifest["provenance"] == {"actor": "agent", "agent": "tester 1"} and kept.task == task.goal
    assert {event["type"] for event in kept.events} >= {"pointerdown", "navigate"} and kept.layout.outcome.exists()


def test_expressions_are_decided(task):
    outcome = task.outcome | {"checks": [{"kind": "script", "expression": "document.title",
                                          "match": {"exact": ["Thanks"]}}]}

    async def work(pool):
        episode, first = await pool.begin(replace(task, outcome=outcome))
        assert episode.score == 0
        await episode.step(f"fill('{uid_of(first, 'textbox')}', 'Floor lamp')")
        return await episode.step({"action": "key", "text": "Return"})

    assert run(work).reward == 1
