"""Types of the values of who or what a recording is from, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import NotRequired, TypedDict


class Provenance(TypedDict):
    """ProvenanceSchema: Who acted, and what may be done with the recording; what is absent was not told."""

    actor: NotRequired[str]
    agent: NotRequired[str]
    consent: NotRequired[bool]
    license: NotRequired[str]
    task_id: NotRequired[str]


class Imported(TypedDict):
    """ImportedSchema: Where an imported recording is from, and what its source did not have."""

    format: str
    version: NotRequired[str]
    source: str
    item: str
    lacks: list[str]
    left_out: dict[str, int]


class RecordedRoom(TypedDict):
    """RecordedRoomSchema: In recording.json: the live room of a recording."""

    id: str
    pictures: bool
