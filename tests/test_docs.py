"""The documents name every command, every field of every format, every rule; none names what is not there."""

import re
from collections.abc import Iterator

import click
import pytest

from demotape.cli import main
from pipeline.checks import KINDS
from schemas import INTENTS
from schemas.formats import (
    agent_steps,
    arguments,
    backup,
    demonstration,
    network,
    origin,
    outcome,
    package,
    parts,
    proof,
    recording,
    scheme,
)
from tests.support.checkout import ROOT
from tests.support.module_list import DOCUMENT, with_listing

FORMATS = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCHEMAS = {cls.__name__.removesuffix("Schema"): cls
           for module in (parts, recording, agent_steps, origin, network, package, arguments, demonstration, proof,
                          outcome, backup, scheme)
           for cls in vars(module).values()
           if isinstance(cls, type) and issubclass(cls, parts.Strict) and cls is not parts.Strict
           and cls.__module__ == module.__name__}

FOLDERS = ("schemas", "extension", "recorder", "pipeline", "replay", "curator_web", "demotape", "tests", "benchmarks",
           "examples")


def sections() -> dict[str, str]:
    """Sections of docs/format.md by the last word of their heading, before any colon's list."""
    found = {}
    for part in re.split(r"^#{2,4} ", FORMATS, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        for name in re.findall(r"\w+", heading):
            found[name] = body
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_is_documented(name):
    body = sections()[name]
    documented = set(re.findall(r"^\| `(\w+)` \|", body, flags=re.M))
    assert documented == {field.data_key or key for key, field in SCHEMAS[name]().fields.items()}


def test_every_intent_is_documented():
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|", sections()["Intents"], flags=re.M)
    assert [[cell.strip("`") for cell in row] for row in rows] == [
        [each.name, *(name or "-" for name in (each.weblinx, each.mind2web, each.browsergym, each.playwright))]
        for each in INTENTS.values()]


def test_every_command_is_in_the_readme():
    documented = set(re.findall(r"^\| `demotape ([a-z]+)", README, flags=re.M))
    assert documented == set(main.commands)


def leaves(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command in a group and in the groups in it, by its whole name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def test_every_option_is_in_the_commands_document():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, command in leaves(main):
        body = re.search(rf"^## demotape {name}$(.*?)(?=^## |\Z)", text, flags=re.M | re.S)
        assert body, name
        for parameter in command.params:
            word = parameter.opts[0] if parameter.param_type_name == "option" else parameter.human_readable_name
            assert f"`{word}`" in body[1], f"{name}: {word}"


def test_every_check_is_documented():
    text = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", text, flags=re.M) == list(KINDS)


def test_every_module_is_listed():
    document = DOCUMENT.read_text(encoding="utf-8")
    assert document == with_listing(document), "python -m tests.support.module_list"


def test_what_to_touch_for_a_change_is_there():
    """The table names files that exist."""
    text = DOCUMENT.read_text(encoding="utf-8")
    table = re.search(r"^\| to change \|.*?(?=\n\n|\Z)", text, flags=re.M | re.S)[0]
    for name in re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:md|toml|txt))`", table):
        assert (ROOT / name).exists(), name


def test_tests_that_the_security_document_names_are_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    for path, name in named:
        there = re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M)
        assert there, f"{path}::{name}"


def test_documents_name_only_what_is_there():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+)`", text):
            formats = name.startswith("demotape/") and "." not in name
            assert formats or (ROOT / name).exists(), f"{path.name}: {name}"
