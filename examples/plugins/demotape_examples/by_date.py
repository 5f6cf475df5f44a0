"""A split rule: recordings from 2026 or later are for testing, so that a model is tested on newer pages."""

from datetime import UTC, datetime

from pipeline.export import Facts, Source

_TESTED_FROM = datetime(2026, 1, 1, tzinfo=UTC)


def split(source: Source, facts: Facts) -> str | None:
    """test_iid for the new ones; None leaves the others to the seed and shares of the rule file."""
    return "test_iid" if source.recording.manifest["started_at"] >= _TESTED_FROM else None
