"""What the tests of operation share."""

import os

import pytest

from tests.support.services.s3_services import KEYS


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    """Of the tests' S3, and no others."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
