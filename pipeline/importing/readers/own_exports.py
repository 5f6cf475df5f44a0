"""What the importers of demotape's own exports share: the folder's manifest, the fields of a turn."""


from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Observation, Utterance
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import head, parse_json, read_document
from schemas import InputError
from schemas.formats.room import ROOM_FIELDS

EXPORT_FORMAT = "demotape/export"
_CONSENT = {"yes": True, "no": False}


def layout_of(folder: Path) -> str:
    """The format of an export of ours; empty for anything else."""
    if b'"demotape/export"' not in head(folder / "manifest.json"):
        return ""
    try:
        manifest = read_document(folder / "manifest.json", folder)
    except InputError:
        return ""
    return str(manifest.get("layout", "")) if isinstance(manifest, dict) else ""


def provenance_of(row: dict[str, Any]) -> dict[str, Any]:
    """The provenance in a row's fields; what is empty there is unknown."""
    known = {name: row[name] for name in ("actor", "agent", "license") if row.get(name)}
    consent = row.get("consent")
    return known | ({"consent": _CONSENT[consent]} if isinstance(consent, str) and consent in _CONSENT else {})


def turn_of(row: dict[str, Any], page: bytes | None, picture: bytes | None, where: str) -> Utterance | Action:
    """A turn of the formats parquet and webdataset, from its row."""
    if row["type"] == "chat":
        reactions = parse_json(row.get("reactions") or "[]", f"{where}: reactions")
        room = parse_json(row.get("room") or "{}", f"{where}: room")
        extra = {name: row[name] for name in ("source", "reply_to") if row.get(name)}
        if isinstance(room, dict):
            extra |= {name: room[name] for name in ROOM_FIELDS if name in room}
        return Utterance(row["utterance"], row["speaker"], float(row["timestamp"]), row["turn"],
                         extra | ({"reactions": reactions} if reactions else {}))
    element = parse_json(row.get("element") or "null", f"{where}: element")
    if element:
        element["frame"] = []  # the exported page is one document
    return Action(row["intent"], parse_json(row["arguments"], f"{where}: arguments"), element=element,
                  state=_state(row, page, picture, where) if row["state_turn"] == row["turn"] else None,
                  time=float(row["timestamp"]), id=row["turn"], report=report_of(row, where))


def report_of(row: dict[str, Any], where: str) -> dict[str, Any]:
    """What an agent reported, from a row; empty without a report. The step is numbered again."""
    stated = parse_json(row.get("report") or "null", f"{where}: report") or {}
    return {name: value for name, value in agent_report(stated).items() if name != "step"}


def _state(row: dict[str, Any], page: bytes | None, picture: bytes | None, where: str) -> Observation:
    status = row.get("screenshot_status")
    boxes = parse_json(row.get("boxes") or "{}", f"{where}: boxes")
    return Observation(
        row["url"], row["title"], row["tab"], (row["viewport_width"], row["viewport_height"]), row["zoom"],
        row["device_pixel_ratio"], (row["scroll_x"], row["scroll_y"]), page if page and boxes_or_uids(page) else None,
        boxes={uid: {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}
               for uid, box in boxes.items()},
        screenshot=picture if status != "none" else None, is_late=status == "broken")


def boxes_or_uids(page: bytes) -> bool:
    """Whether a page is one: rows without a page have an empty document, whose elements have no uid."""
    return b"data-demotape-uid=" in page


