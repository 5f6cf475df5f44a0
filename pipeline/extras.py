"""Extras of pyproject.toml: the libraries of each optional part, and the message that says how to install them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from schemas import InputError


@dataclass(frozen=True)
class Extra:
    """An extra. `use`: what it is for, as the subject of the message; `libraries`: modules that optional parts import,
    by the package on PyPI that contains them."""

    use: str
    libraries: Mapping[str, str]


EXTRAS: Mapping[str, Extra] = {
    "cluster": Extra("a Dask cluster", {"distributed": "distributed"}),
    "demo": Extra("the demo", {"miniwob": "miniwob"}),
    "encoder": Extra("a dual encoder", {"sentence-transformers": "sentence_transformers", "accelerate": "accelerate",
                                        "datasets": "datasets"}),
    "hub": Extra("uploading to the Hugging Face Hub", {"huggingface_hub": "huggingface_hub"}),
    "inspect": Extra("evaluating tasks", {"inspect-ai": "inspect_ai"}),
    "mcp": Extra("an MCP server", {"mcp": "mcp"}),
    "names": Extra("redacting names and addresses", {
        "faker": "faker", "mimesis": "mimesis", "sudachipy": "sudachipy", "sudachidict-small": "sudachidict_small"}),
    "ocr": Extra("reading the text in pictures", {"rapidocr": "rapidocr", "onnxruntime": "onnxruntime"}),
    "openenv": Extra("serving tasks to trainers", {"openenv": "openenv"}),
    "openid": Extra("DEMOTAPE_OPENID_ISSUER", {"authlib": "authlib", "joserfc": "joserfc", "requests": "requests"}),
    "postgresql": Extra("PostgreSQL", {"psycopg": "psycopg"}),
    "production": Extra("DEMOTAPE_METRICS_TOKEN", {"prometheus-client": "prometheus_client"}),
    "ranker": Extra("ranking", {"lightgbm": "lightgbm"}),
    "speech": Extra("recognising speech", {"faster-whisper": "faster_whisper"}),
    "traces": Extra("OTEL_EXPORTER_OTLP_ENDPOINT", {
        "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry-instrumentation-flask": "opentelemetry.instrumentation.flask"}),
    "verifiers": Extra("training on tasks", {"verifiers": "verifiers"}),
    "wacz": Extra("a WARC or WACZ file", {"warcio": "warcio"}),
}


def missing_library(extra: str) -> str | None:
    """The first library of an extra that is not installed; None if all are. Imports none of them."""
    return next((library for library, module in EXTRAS[extra].libraries.items() if not _is_installed(module)), None)


def require(extra: str, use: str = "") -> None:
    """Raise InputError if a library of an extra is not installed; `use`: instead of the extra's."""
    if missing_library(extra):
        raise InputError(hint(extra, use))


@contextmanager
def importing(extra: str, use: str = "") -> Iterator[None]:
    """Raises InputError if a library of an extra that is imported inside cannot be imported; `use`: as for `require`.
    """
    try:
        yield
    except ImportError:
        raise InputError(hint(extra, use)) from None


def hint(extra: str, use: str = "") -> str:
    """What an optional part needs, and how to install it."""
    library = missing_library(extra) or next(iter(EXTRAS[extra].libraries))
    return f"{use or EXTRAS[extra].use} needs {library}; install it with: {install_command(extra)}"


def install_command(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'demotape[{extra}]'"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its parent is missing, or cannot be imported
        return False
