"""Reads a labelling scheme from YAML or JSON, with the line of what is wrong in it.

Scalars are read by YAML 1.2's core schema, so `no` is a text: PyYAML's loaders follow YAML 1.1, in which it is false.
Anchors, aliases and tags are refused: a scheme needs none, and aliases make a small file a huge value.
"""

import re
from pathlib import Path
from typing import Any

import yaml
from marshmallow import ValidationError

from schemas import InputError, types
from schemas.files import first_error, read_named
from schemas.formats.scheme import SchemeSchema
from schemas.text import storable

MAX_CHARACTERS = 200_000  # a lead waits while it is read; a hundred questions have a tenth
MAX_BYTES = 4 * MAX_CHARACTERS
_CORE = ((re.compile(r"true|True|TRUE"), lambda text: True), (re.compile(r"false|False|FALSE"), lambda text: False),
         (re.compile(r"null|Null|NULL|~|"), lambda text: None), (re.compile(r"[-+]?[0-9]{1,15}"), int))
_CONTROL = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # that YAML excludes
_Path = tuple[str | int, ...]


class SchemeError(InputError):
    """What is wrong in a scheme. `line`: from 1; None where it is in no one line."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


def read_scheme(text: str) -> types.Scheme:
    """The scheme in a file's text; raises SchemeError naming line, question and field of the first mistake."""
    if len(text) > MAX_CHARACTERS:
        raise SchemeError(f"a scheme has at most {MAX_CHARACTERS:,} characters")
    content, lines = _parse(storable(text))
    if content is None:
        raise SchemeError("the scheme is empty; to ask nothing, write: questions: []")
    try:
        scheme: types.Scheme = SchemeSchema().load(content)
    except ValidationError as error:
        field, reason = first_error(error.messages)
        raise SchemeError(_message(content, field, reason), _line_of(field, lines)) from None
    return scheme


def read_scheme_file(path: Path) -> str:
    """The text of a file with a valid scheme; raises InputError naming the file, and line and field of a mistake."""
    try:
        text = read_named(path, MAX_BYTES).decode("utf-8-sig")
        read_scheme(text)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8") from None
    except SchemeError as error:
        raise InputError(f"{path}: {error}") from None
    return text


def _parse(text: str) -> tuple[Any, dict[_Path, int]]:
    """The value of a YAML text, and the line of each part of it by its path."""
    if wrong := _CONTROL.search(text):
        raise SchemeError(f"the character U+{ord(wrong[0]):04X} is not allowed",
                          text.count("\n", 0, wrong.start()) + 1)
    loader = _PlainLoader(text)
    lines: dict[_Path, int] = {}
    try:
        node = loader.get_single_node()
        return (None if node is None else _value(node, (), lines)), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise SchemeError(f"not YAML ({error.problem or error.context})", mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, RecursionError):
        raise SchemeError("not YAML (nested too deeply)") from None
    finally:
        loader.dispose()


class _PlainLoader(yaml.SafeLoader):
    """Composes a document without anchors, aliases and tags."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node; raises MarkedYAMLError at what a scheme has not."""
        event = self.peek_event()
        for is_present, word in ((isinstance(event, yaml.AliasEvent), "aliases"), (event.anchor, "anchors"),
                                 (getattr(event, "tag", None), "tags")):
            if is_present:
                raise yaml.MarkedYAMLError(problem=f"{word} are not allowed", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def _value(node: yaml.Node, path: _Path, lines: dict[_Path, int]) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, index), lines) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    return _scalar(node)


def _mapping(node: yaml.MappingNode, path: _Path, lines: dict[_Path, int]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        if key is None or key in content:
            problem = "a name of a field is a text" if key is None else f"the field {key[:40]} occurs twice"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
        content[key] = _value(value_node, (*path, key), lines)
        lines[(*path, key)] = key_node.start_mark.line + 1
    return content


def _scalar(node: yaml.Node) -> Any:
    if node.style is None:  # plain: without quotes
        for pattern, convert in _CORE:
            if pattern.fullmatch(node.value):
                return convert(node.value)
    return node.value


def _message(content: Any, field: str, reason: str) -> str:
    """The reason with the question's name and the field inside it: `question success: field options: …`."""
    path = field.split(".")
    if path[0] != "questions" or len(path) < 2 or not path[1].isdecimal():
        return f"field {field}: {reason}" if field else reason
    question = content["questions"][int(path[1])]
    name = question.get("name") if isinstance(question, dict) else None
    named = f"question {name[:40]}" if isinstance(name, str) and name else f"question {int(path[1]) + 1}"
    return f"{named}: field {'.'.join(path[2:])}: {reason}" if path[2:] else f"{named}: {reason}"


def _line_of(field: str, lines: dict[_Path, int]) -> int | None:
    """The line of a field, or of what it is missing from."""
    path: _Path = tuple(int(part) if part.isdecimal() else part for part in field.split(".")) if field else ()
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)
