"""A small run of `python -m benchmarks.hostile`: hostile input by rules against the real server, commands, browser."""

from benchmarks.hostile.run import GOALS, run


def test_hostile_input_breaks_runs_and_reaches_nothing():
    result = run(seed=18, inputs=40)
    for name in ("tracebacks", "answers of 500", "scripts run", "connections to a canary", "files outside"):
        assert result[name] == 0, name
    memory = "largest memory over the idle process (MiB)"
    assert result[memory] <= GOALS[memory]
    assert result["inputs"].keys() >= {"packages", "recordings", "weblinx", "pages and sheets", "edits", "described"}
