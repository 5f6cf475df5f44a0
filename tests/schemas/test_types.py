"""The TypedDicts say what the schemas say: the same fields, required or not, of the same types."""

import inspect
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from marshmallow import fields, validate

from schemas import (
    backup,
    backup_types,
    demonstration,
    network,
    network_types,
    outcome,
    outcome_types,
    package,
    package_types,
    parts,
    proof,
    proof_types,
    recording,
    types,
)
from schemas.demonstration import TurnField
from schemas.package import ChunksField, RowsField
from schemas.parts import Strict

TYPES = {name: value for module in (types, package_types, network_types, proof_types, outcome_types, backup_types)
         for name, value in vars(module).items() if is_typeddict(value)}
MODULES = (parts, recording, network, demonstration, package, proof, outcome, backup)
SCHEMAS = {name: schema for module in MODULES for name, schema in vars(module).items()
           if inspect.isclass(schema) and issubclass(schema, Strict) and schema is not Strict}
OTHERS = {"RecordingSchema": "RecordingManifest", "PackageSchema": "PackageManifest", "LineSchema": "PackageLine",
          "PlainLineSchema": "PackageLine"}
# What a turn's arguments are is told apart by its intent, at run time only.
UNTYPED = {schema.__name__ for schema in demonstration.ARGUMENTS.values()}
SCALARS = {fields.String: str, fields.Float: float, fields.Integer: int, fields.Boolean: bool,
           fields.AwareDateTime: datetime, TurnField: types.Turn, RowsField: list[Any], ChunksField: list[Any],
           outcome.ScalarField: Any}


def typed(schema: type[Strict]) -> type:
    """The TypedDict of a schema."""
    name = schema.__name__
    return TYPES[OTHERS.get(name, name.removesuffix("Schema"))]


def type_of(field: fields.Field) -> Any:
    """The type of what a field loads, None aside."""
    if isinstance(field, fields.Nested):
        return typed(type(field.schema))
    if isinstance(field, fields.List):
        return list[type_of(field.inner)]
    if isinstance(field, fields.Tuple):
        return tuple[tuple(map(type_of, field.tuple_fields))]
    if isinstance(field, fields.Dict):
        return dict[type_of(field.key_field), type_of(field.value_field) if field.value_field else Any]
    return SCALARS[type(field)]


def described(hint: Any) -> tuple[Any, bool, bool]:
    """A hint's type without the rest, whether it is required, whether it may be None."""
    required = get_origin(hint) is not NotRequired
    hint = hint if required else get_args(hint)[0]
    if get_origin(hint) not in (Union, UnionType) or NoneType not in get_args(hint):
        return hint, required, False
    rest = [each for each in get_args(hint) if each is not NoneType]
    return Union[tuple(rest)], required, True  # noqa: UP007 - of a list


@pytest.mark.parametrize("name", sorted(SCHEMAS.keys() - UNTYPED))
def test_a_typed_dict_says_what_its_schema_says(name):
    schema = SCHEMAS[name]()
    hints = get_type_hints(typed(SCHEMAS[name]), include_extras=True)
    by_key = {field.data_key or key: field for key, field in schema.fields.items()}
    assert list(hints) == list(by_key)
    for key, field in by_key.items():
        kind, required, nullable = described(hints[key])
        assert (required, nullable) == (field.required, field.allow_none), key
        if get_origin(kind) is Literal:
            assert get_args(kind) == (field.validate.comparable,), key
            assert isinstance(field.validate, validate.Equal) and type(field) is fields.String, key
        else:
            assert kind == type_of(field), key


def test_every_typed_dict_has_its_schema():
    assert TYPES.keys() == {typed(SCHEMAS[name]).__name__ for name in SCHEMAS.keys() - UNTYPED}


def test_no_field_is_named_like_a_method_of_a_dict():
    """What writes answers would take the method for the field's value where the field is absent."""
    fields_of = ((name, field) for name, schema in SCHEMAS.items() for field in schema().fields)
    assert [(name, field) for name, field in fields_of if hasattr(dict, field)] == []
