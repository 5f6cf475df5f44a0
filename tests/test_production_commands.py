"""The commands of docs/production.md, run one after the other as they stand there, on PostgreSQL and an S3 service."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from sqlalchemy import make_url

from demotape.cli import main
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services.s3_services import BUCKET, KEYS
from tests.test_production import DOCUMENT

# What is not this test's: packages, services of the system, containers, keys that are the reader's own, OpenID.
OTHERS = ("pip ", "sudo systemctl", "podman ", "export AWS_", "export DEMOTAPE_OPENID", "DATABASE_PASSWORD",
          "STORAGE_PASSWORD", "DEMOTAPE_HOSTS=")


def blocks() -> list[list[str]]:
    """The lines of each block of commands, without comments."""
    return [[line for line in (re.sub(r"\s+#.*", "", line) for line in block.splitlines())
             if line.strip() and not line.startswith(OTHERS)]
            for language, block in re.findall(r"^```(\w*)\n(.*?)^```", DOCUMENT, re.S | re.M) if not language]


class Shell:
    """Runs lines as a shell would; places of the document are places of the test's."""

    def __init__(self, places: dict[str, str], postgresql: dict[str, str]):
        self.places, self.postgresql, self.variables = places, postgresql, {}

    def run(self, line: str) -> str:
        for theirs, ours in self.places.items():
            line = line.replace(theirs, ours)
        words = [re.sub(r"\$(\w+)", lambda found: self.variables[found[1]], word) for word in shlex.split(line)]
        if words[0] == "export":
            self.variables |= dict(word.split("=", 1) for word in words[1:])
            return ""
        if words[:3] == ["sudo", "-u", "postgres"]:
            return subprocess.run(words[3:], input="secret\nsecret\n", text=True, check=True, capture_output=True,
                                  env=os.environ | self.postgresql, start_new_session=True).stdout
        done = CliRunner(env=self.variables).invoke(main, words[1:])
        assert done.exit_code == 0, (words, done.output, done.exception)
        return done.output


@pytest.mark.skipif(None in map(shutil.which, ("createuser", "createdb")),
                    reason="PostgreSQL's programs are not installed (apt-get install postgresql-client)")
def test_every_command_does_what_the_document_says(postgresql, motos, tmp_path, monkeypatch):
    for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    server = make_url(postgresql.url)
    name, data = f"demotape_{os.urandom(4).hex()}", tmp_path / "data"
    shell = Shell({"demotape@db.example.org/demotape": f"{name}@127.0.0.1:{server.port}/{name}",
                   "demotape:PASSWORD@localhost/demotape": f"{name}:PASSWORD@127.0.0.1:{server.port}/{name}",
                   "createuser --pwprompt demotape": f"createuser --pwprompt {name}",
                   "--owner demotape demotape": f"--owner {name} {name}",
                   "/srv/demotape": str(data), "/backup/demotape": str(tmp_path / "backup"),
                   "s3://recordings/review": f"s3://{BUCKET}/{tmp_path.name}",
                   "my-recording": f" {make_recording(tmp_path)}"},
                  {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": "demotape"})
    told = {}
    begun: dict[str, str] = {}
    for block in blocks():
        shell.variables = begun | {"DEMOTAPE_ENDPOINT_URL": motos}
        if any("admin restore" in line for line in block):
            shell.variables |= {"DEMOTAPE_DB": postgresql.empty(), "DEMOTAPE_DATA": str(tmp_path / "restored")}
        if any("admin move" in line for line in block):  # of an app whose recordings lie in the folder
            shell.run("demotape import my-recording")
        for line in block:
            told[" ".join(shlex.split(line)[:3])] = shell.run(line)
        begun = begun or {each: shell.variables[each] for each in ("DEMOTAPE_DB", "DEMOTAPE_DATA")}
    assert {"demotape user add", "demotape import --create", "demotape admin move", "demotape admin rotate-key",
            "demotape admin backup", "demotape admin restore", "demotape admin check", "sudo -u postgres"} == {
        key for key in told if not key.startswith("export")}
    assert "shown only once" in told["demotape user add"]
    assert ", 0 already present" not in told["demotape admin move"]
    assert "key was replaced" in told["demotape admin rotate-key"]
    assert told["demotape admin check"] == ""
    assert (tmp_path / "restored" / "recordings" / "rec-1" / "recording.json").exists()
    shell.variables = begun
    for inline in re.findall(r"`(demotape admin (?:check|clean)[^`]*)`", DOCUMENT):
        shell.run(inline)
    assert "0 would be deleted" in shell.run("demotape admin clean --exports 30 --dry-run")
