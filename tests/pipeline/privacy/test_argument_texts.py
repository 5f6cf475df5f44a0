"""Every text in the arguments of a turn is known to redaction and to the check of personal data."""

from marshmallow import fields

from pipeline.checks.material import Material
from pipeline.checks.privacy import in_address, in_arguments
from pipeline.privacy.argument_texts import LISTS, NAMES, TEXTS, replace_texts, texts_of_arguments
from pipeline.privacy.redacting import redactor
from schemas import REDACTED
from schemas.formats.arguments import ARGUMENTS

MAIL = "ann.lee@lab.example"


def text_fields(schema, path=()):
    """Names of the fields of a schema that are texts or lists of texts, also of schemas in it."""
    for name, field in schema().fields.items():
        if isinstance(field, fields.Nested):
            yield from text_fields(type(field.schema), (*path, name))
        elif isinstance(field, fields.String):
            yield (*path, name), False
        elif isinstance(field, fields.List):
            if isinstance(field.inner, fields.Nested):
                yield from text_fields(type(field.inner.schema), (*path, name))
            elif isinstance(field.inner, fields.String):
                yield (*path, name), True
        else:
            assert isinstance(field, (fields.Number, fields.Boolean)), f"{name}: a kind of field that may contain text"


def turn(intent, arguments):
    return {"id": "t", "type": "browser", "intent": intent, "arguments": arguments, "element": None, "state": None}


def test_every_text_of_every_intent_is_known():
    for intent, schema in ARGUMENTS.items():
        for path, is_list in text_fields(schema):
            assert len(path) == 1, f"{intent}: text in {path} is not known to pipeline/privacy/argument_texts.py"
            known = NAMES if path[0] in NAMES else LISTS if is_list else TEXTS
            assert path[0] in known, f"{intent}: {path[0]} is not known to pipeline/privacy/argument_texts.py"


def test_every_text_is_redacted_and_reported():
    for intent, schema in ARGUMENTS.items():
        for (name,), is_list in text_fields(schema):
            if name in NAMES:
                continue
            value = [f"to {MAIL}"] if is_list else f"to {MAIL}"
            one = turn(intent, {name: value})
            demonstration = {"task": "", "turns": [one]}
            clean = redactor(demonstration, ()).walk(demonstration)["turns"][0]["arguments"][name]
            assert clean == ([f"to {REDACTED}"] if is_list else f"to {REDACTED}"), (intent, name)
            material = Material.__new__(Material)
            material.turns = [one]
            found = [*in_arguments(material), *in_address(material)]
            assert len(found) == 1, (intent, name)
            if name != "url":
                assert found[0].fix["arguments"][name] == clean


def test_chosen_values_are_redacted_as_value_and_label_are():
    arguments = {"value": MAIL, "label": MAIL, "chosen_values": [MAIL, "b"], "checked": True}
    assert list(texts_of_arguments(arguments)) == [MAIL, MAIL, MAIL, "b"]
    assert replace_texts(arguments, lambda text: text.replace(MAIL, REDACTED)) == {
        "value": REDACTED, "label": REDACTED, "chosen_values": [REDACTED, "b"], "checked": True}
