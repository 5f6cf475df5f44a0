"""Names every failure when it happens, so that a stopped run shows earlier failures; saves the result of a run."""

import pytest

EXIT_STATUS_KEY = "demotape/exit_status"  # in pytest's cache
_MAX_REASON_CHARS = 300


class Failures:
    """A pytest plugin."""

    def __init__(self, config: pytest.Config):
        self._config, self._plugins = config, config.pluginmanager

    def pytest_sessionstart(self) -> None:
        self._note(None)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._note(int(exitstatus))

    def _note(self, status: int | None) -> None:
        if self._config.pluginmanager.hasplugin("cacheprovider") and not hasattr(self._config, "workerinput"):
            self._config.cache.set(EXIT_STATUS_KEY, status)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reporter = self._plugins.get_plugin("terminalreporter")  # none in a process that runs tests for another
        if report.failed and reporter:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = " ".join(crash.message.split())[:_MAX_REASON_CHARS] if crash else ""
            reporter.write_line(f"\n{report.nodeid} ({report.when}, {report.duration:.0f} s): {reason}")
