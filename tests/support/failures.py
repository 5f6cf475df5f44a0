"""Names every failure when it happens: a run that is stopped tells what failed before."""

import pytest

_LONGEST = 300  # characters of what went wrong


class Failures:
    """A pytest plugin."""

    def __init__(self, config: pytest.Config):
        self._plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reporter = self._plugins.get_plugin("terminalreporter")  # none in a process that runs tests for another
        if report.failed and reporter:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = " ".join(crash.message.split())[:_LONGEST] if crash else ""
            reporter.write_line(f"\n{report.nodeid} ({report.when}, {report.duration:.0f} s): {reason}")
