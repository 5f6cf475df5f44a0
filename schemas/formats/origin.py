"""Who or what a recording is from: actor, consent and licence; the source of an imported one."""

from marshmallow import fields, validate

from schemas.actors import ACTORS

from .parts import Strict, flag, listing, string

IMPORT_LACKS = ("screenshots", "pages", "boxes", "chat", "times", "states")
# It goes into data set cards and rows as it is: no markup, and no e-mail address.
PLAIN_NAME = validate.Regexp(r"^[\w .,+:/()-]{1,100}$(?!\n)", error="At most 100 letters, digits, blanks and .,+:/()-_")


class ProvenanceSchema(Strict):
    """Who acted, and what may be done with the recording; what is absent was not told."""

    piece = "recording"

    actor = string("`person`, `agent` or `script`: who or what acted", required=False, validate=validate.OneOf(ACTORS))
    agent = string("name and version of the agent or script", required=False, validate=PLAIN_NAME)
    consent = flag("whether who acted agreed to the recording being published", required=False)
    license = string("licence under which it may be published, such as an SPDX identifier", required=False,
                     validate=PLAIN_NAME)
    task_id = string("the task of a review app that it is of, as `PROJECT/ID`", required=False,
                     validate=validate.Regexp(r"^[a-z0-9-]{1,40}/[a-z0-9]{1,40}$(?!\n)"))


class ImportedSchema(Strict):
    """Where an imported recording is from, and what its source did not have."""

    piece = "recording"

    format = string("name of the importer")
    version = string("version of the source's format, as the source states it; absent when it states none",
                     required=False)
    source = string("name of the file or folder, without its path")
    item = string("id of the demonstration in it")
    lacks = listing(fields.String(validate=validate.OneOf(IMPORT_LACKS)), "what no turn has: `screenshots`, `pages`, "
                    "`boxes`, `states`, `chat`, `times` (turns are then a second apart)")
    left_out = fields.Dict(keys=fields.String(), values=fields.Integer(strict=True), required=True, metadata={
        "description": "what the source has and the recording has not, by reason"})


class RecordedRoomSchema(Strict):
    """In recording.json: the live room of a recording."""

    id = string("the room's id", validate=validate.Length(1, 100))
    pictures = flag("whether the instructor saw the screen")
