"""`python -m schemas.write_types`: writes the TypedDicts of the formats from their schemas, after a change of the
schemas.

A field is declared once, in its schema. Fields that a schema does not require are NotRequired, those that may be null
are `| None`; a string that must equal one value is a Literal. The modules that are written are for annotations only.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from marshmallow import Schema, fields, validate

from .formats import (
    agent_steps,
    alignment,
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
from .formats.parts import Strict

_FOLDER = Path(__file__).parent / "types"
_LINE_LENGTH = 120
_SCALARS = {fields.String: "str", fields.Float: "float", fields.Integer: "int", fields.Boolean: "bool",
            fields.AwareDateTime: "datetime"}
# What a written module is about, and the modules whose schemas it types. Later ones may use earlier ones' types.
MODULES: dict[str, tuple[str, tuple[ModuleType, ...]]] = {
    "agent_steps": ("an agent's reports", (agent_steps,)),
    "alignment": ("the alignment of an external video", (alignment,)),
    "network": ("a recorded network", (network,)),
    "origin": ("who or what a recording is from", (origin,)),
    "outcome": ("outcome checks", (outcome,)),
    "scheme": ("a labelling scheme", (scheme,)),
    "recordings": ("recordings and demonstrations", (parts, recording, demonstration)),
    "package": ("an extension's package", (package,)),
    "proof": ("a proof", (proof,)),
    "backup": ("a backup", (backup,)),
}
_ALIASES = {"recordings": {"JsonObject": "dict[str, Any]  # an object of JSON that no schema describes, or not yet"}}
_UNIONS = {"BrowserTurn": "Turn = ChatTurn | BrowserTurn"}  # written after the type that completes them
_DISCRIMINATED = {"ChatTurn", "BrowserTurn"}  # members of a union, told apart by a field with one value


def source(name: str) -> str:
    """The text of one of MODULES."""
    about, modules = MODULES[name]
    body = "".join(f"\n\n{definition}" for definition in _definitions(modules))
    aliases = "".join(f"\n{alias} = {value}\n" for alias, value in _ALIASES.get(name, {}).items())
    return (f'"""Types of the values of {about}, after reading and validation.\n\nWritten by `python -m '
            f'schemas.write_types` from the schemas; change those.\n"""\n\n'
            f"{_imports(name, aliases + body)}{aliases}{body}")


def typed_schemas(modules: tuple[ModuleType, ...]) -> Iterator[type[Strict]]:
    """The schemas of these modules that have a type, in the order in which they are declared."""
    for module in modules:
        for schema in vars(module).values():
            if (inspect.isclass(schema) and issubclass(schema, Strict) and schema.__module__ == module.__name__
                    and schema is not Strict and type_name(schema)):
                yield schema


def type_name(schema: type[Schema]) -> str:
    """The name of a schema's type; empty for arguments of an intent, which are told apart at run time only."""
    if name := vars(schema).get("type_name"):
        return str(name)
    return schema.__name__.removesuffix("Schema") if schema.__name__.endswith("Schema") else ""


def _definitions(modules: tuple[ModuleType, ...]) -> Iterator[str]:
    written: set[str] = set()
    for schema in typed_schemas(modules):
        name = type_name(schema)
        if name in written:  # several schemas read one type
            continue
        base = next((type_name(parent) for parent in schema.__mro__[1:-1]
                     if issubclass(parent, Strict) and parent is not Strict and type_name(parent)), "TypedDict")
        inherited = set() if base == "TypedDict" else {
            field for parent in schema.__mro__[1:] if issubclass(parent, Strict) and parent is not Strict
            for field in parent().fields}
        lines = [f"    {field.data_key or key}: {_hint(field, written, name in _DISCRIMINATED)}"
                 for key, field in schema().fields.items() if key not in inherited]
        summary = " ".join((inspect.getdoc(schema) or "").split("\n\n")[0].split())
        yield f'class {name}({base}):\n{_docstring(f"{schema.__name__}: {summary}")}\n' + (
            "\n" + "\n".join(lines) + "\n" if lines else "")
        written.add(name)
        if name in _UNIONS:
            yield _UNIONS[name] + "\n"


def _docstring(text: str) -> str:
    words, lines, line = text.split(), [], '    """'
    for word in words:
        if len(line) + len(word) + 4 > _LINE_LENGTH:
            lines.append(line.rstrip())
            line = "    "
        line += word + " "
    closing = line.rstrip() + '"""'
    return "\n".join([*lines, closing] if not lines else [*lines, line.rstrip(), '    """'])


def _hint(field: fields.Field[Any], written: set[str], discriminated: bool) -> str:
    hint = _type_of(field, written)
    if discriminated and isinstance(field.validate, validate.Equal):
        hint = f'Literal["{field.validate.comparable}"]'
    if field.allow_none:
        hint = f"{hint} | None" if not hint.startswith('"') else f'"{hint.strip(chr(34))} | None"'
    return hint if field.required else f"NotRequired[{hint}]"


def _type_of(field: fields.Field[Any], written: set[str]) -> str:
    """The type of what a field loads, None aside."""
    if hint := getattr(type(field), "type_hint", None):
        return str(hint)
    if isinstance(field, fields.Nested):
        name = type_name(type(field.schema))
        return name if name in written or not _is_here(field, name) else f'"{name}"'
    if isinstance(field, fields.List):
        return f"list[{_type_of(field.inner, written)}]"
    if isinstance(field, fields.Tuple):
        return f"tuple[{', '.join(_type_of(inner, written) for inner in field.tuple_fields)}]"
    if isinstance(field, fields.Dict):
        assert field.key_field is not None
        value = _type_of(field.value_field, written) if field.value_field else "Any"
        return f"dict[{_type_of(field.key_field, written)}, {value}]"
    return _SCALARS[type(field)]


def _is_here(field: fields.Nested, name: str) -> bool:
    """Whether a nested schema's type is written in the module of the schema that nests it, so maybe later in it."""
    home = {type_name(schema): module for module, (_, modules) in MODULES.items() for schema in typed_schemas(modules)}
    root = field.root
    return home.get(name) == home.get(type_name(type(root))) if root is not None else True


def _imports(name: str, body: str) -> str:
    body = re.sub(r'""".*?"""', "", body, flags=re.S)
    lines = ["from datetime import datetime"] if "datetime" in body else []
    words = set(re.findall(r"\w+", body))
    typing = [word for word in ("Any", "Literal", "NotRequired", "TypedDict") if word in words]
    lines.append(f"from typing import {', '.join(typing)}\n")
    for other, (_, modules) in MODULES.items():
        if other == name:
            break
        defined = {type_name(schema) for schema in typed_schemas(modules)}
        used = sorted((words & defined) - set(re.findall(r"^class (\w+)", body, re.M)))
        if used:
            lines.append(f"from .{other} import {', '.join(used)}")
    return "\n".join(lines).rstrip("\n") + "\n"


def package_source() -> str:
    """The text of the package's `__init__`: all types, for who needs several."""
    names = ((name, type_) for name in MODULES
             for type_ in re.findall(r"^(?:class )?(\w+)(?: =|\()", source(name), re.M))
    return ('"""Types of the values of all formats. Written by `python -m schemas.write_types` from the schemas."""\n\n'
            + "".join(f"from .{name} import {type_} as {type_}\n" for name, type_ in sorted(names)))


def main() -> None:
    """Write all modules."""
    (_FOLDER / "__init__.py").write_text(package_source(), encoding="utf-8")
    for name in MODULES:
        (_FOLDER / f"{name}.py").write_text(source(name), encoding="utf-8")


if __name__ == "__main__":
    main()
