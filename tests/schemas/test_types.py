"""The TypedDicts are those that the schemas give."""

from pathlib import Path

import pytest

import schemas
from schemas import write_types
from schemas.formats import arguments
from schemas.formats.parts import Strict

FOLDER = Path(schemas.__file__).parent / "types"
TYPED_MODULES = [module for _, modules in write_types.MODULES.values() for module in modules]
SCHEMAS = [schema for module in [*TYPED_MODULES, arguments] for schema in vars(module).values()
           if isinstance(schema, type) and issubclass(schema, Strict)]


@pytest.mark.parametrize("name", write_types.MODULES)
def test_types_are_written_from_the_schemas(name):
    assert (FOLDER / f"{name}.py").read_text(encoding="utf-8") == write_types.source(name), \
        "python -m schemas.write_types"


def test_the_package_names_all_types():
    assert (FOLDER / "__init__.py").read_text(encoding="utf-8") == write_types.package_source(), \
        "python -m schemas.write_types"


def test_every_schema_has_a_type_but_arguments_of_an_intent():
    typed = {schema for _, modules in write_types.MODULES.values() for schema in write_types.typed_schemas(modules)}
    assert set(SCHEMAS) - typed == {Strict, *arguments.ARGUMENTS.values()}


def test_no_field_is_named_like_a_method_of_a_dict():
    """What writes answers would take the method for the field's value where the field is absent."""
    assert [(schema.__name__, field) for schema in SCHEMAS for field in schema().fields if hasattr(dict, field)] == []
