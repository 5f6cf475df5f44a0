"""Settings of the review app that stand in the environment: a secret, and what only who runs the server decides."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from curator_web.access.openid_settings import OpenIDSettings
from curator_web.webhooks.addresses import Network, read_networks
from pipeline import extras
from schemas import InputError

if TYPE_CHECKING:
    from pipeline.judging.model_endpoint import ModelSettings

TOKEN_LENGTH = 16


def openid() -> OpenIDSettings | None:
    """Where people sign in elsewhere: DEMOTAPE_OPENID_ISSUER, _CLIENT, _SECRET, and _ROLE of people not known here.

    None without an issuer; raises InputError for what cannot be one, or when the libraries for it are missing.
    """
    issuer = os.environ.get("DEMOTAPE_OPENID_ISSUER")
    if not issuer:
        return None
    extras.require("openid")
    return OpenIDSettings(issuer, os.environ.get("DEMOTAPE_OPENID_CLIENT", ""),
                          os.environ.get("DEMOTAPE_OPENID_SECRET", ""), os.environ.get("DEMOTAPE_OPENID_ROLE") or None)


def webhook_networks() -> tuple[Network, ...]:
    """Networks that are not public and that webhooks may lead to all the same: DEMOTAPE_WEBHOOK_NETWORKS. Raises
    InputError for what is none."""
    name = "DEMOTAPE_WEBHOOK_NETWORKS"
    return read_networks(os.environ.get(name, ""), name)


def room_connections() -> int:
    """The number of connections to live rooms that this process serves: DEMOTAPE_ROOMS; 0 without it, as each keeps a
    thread busy, and all connections to a room must reach one process. Raises InputError."""
    value = os.environ.get("DEMOTAPE_ROOMS", "0")
    if not value.isascii() or not value.isdecimal() or len(value) > 6:
        raise InputError(f"DEMOTAPE_ROOMS: {value[:20]!r} is not a number of connections")
    return int(value)


def traces() -> bool:
    """Whether OpenTelemetry is told what is done: its own variable OTEL_EXPORTER_OTLP_ENDPOINT, or the one of traces
    alone, says where. Raises InputError when the libraries for it are missing."""
    name = next((name for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
                 if os.environ.get(name)), None)
    if name:
        extras.require("traces", name)
    return bool(name)


def metrics_token() -> str:
    """The token with which Prometheus reads the metrics: DEMOTAPE_METRICS_TOKEN; empty if there is none.

    Raises InputError for a token that is too short, or when the library for metrics is missing.
    """
    token = os.environ.get("DEMOTAPE_METRICS_TOKEN", "")
    if not token:
        return ""
    if len(token) < TOKEN_LENGTH:
        raise InputError(f"DEMOTAPE_METRICS_TOKEN: must have at least {TOKEN_LENGTH} characters")
    extras.require("production")
    return token


def share_metrics(data: Path) -> None:
    """Have this process count together with the others of its parent, the server: in the server's folder in the data
    folder. Folders of servers that have ended are deleted. Must be called before prometheus_client is imported."""
    folder = data / ".metrics"
    own = folder / str(os.getppid())
    own.mkdir(parents=True, exist_ok=True)
    for process_folder in folder.iterdir():
        if process_folder.name.isdecimal() and process_folder != own and not _lives(int(process_folder.name)):
            shutil.rmtree(process_folder, ignore_errors=True)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(own))  # the library reads it when it is imported


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def model() -> "ModelSettings | None":
    """The model that proposes tasks: DEMOTAPE_MODEL_URL (an OpenAI-compatible endpoint), DEMOTAPE_MODEL (its name
    there) and DEMOTAPE_MODEL_KEY. None without an address; raises InputError for what cannot be one, and never tells
    the key."""
    url = os.environ.get("DEMOTAPE_MODEL_URL")
    if not url:
        return None
    from pipeline.judging.model_endpoint import model_settings

    return model_settings(url, os.environ.get("DEMOTAPE_MODEL", ""), os.environ.get("DEMOTAPE_MODEL_KEY", ""))
