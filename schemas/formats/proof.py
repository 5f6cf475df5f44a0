"""Format of a proof (proof.json): the result of replaying a demonstration, stored beside it."""

from marshmallow import fields, validate

from .parts import Strict, digest, flag, integer, listing, newest_version, number, string, wall_clock

FORMAT = "demotape/proof"
VERDICTS = ("same", "equivalent", "differs", "failed")  # from the best to the worst


def _share(description: str) -> fields.Float:
    return number(description, minimum=-1, maximum=1, required=False, allow_none=True)


class TurnProofSchema(Strict):
    """What came of one turn; likenesses are of the state after it and the recorded one, from 0 to 1."""

    turn = string("id of the turn")
    intent = string("kind of action")
    verdict = string("`same`, `equivalent`, `differs` or `failed`", validate=validate.OneOf(VERDICTS))
    reason = string("why it is not the same; empty when it is")
    seconds = number("how long it took, until the page was as recorded or at rest", minimum=0)
    by = listing(fields.String(), "what the element was found by")
    score = _share("how surely the element was found, from 0 to 1; null without one")
    elements = _share("likeness of the elements; null when not known")
    texts = _share("likeness of the texts; null when not known")
    picture = _share("likeness of the screenshots (SSIM); null when not known")
    shown = digest("blob of the screenshot after it, among the derived ones; null without one", required=False,
                   allow_none=True, load_default=None)


class MissingSchema(Strict):
    """A request that was not recorded, and so was answered 504."""

    method = string("method")
    url = string("address")
    count = integer("how often it was asked", validate=validate.Range(min=1))


class ProofSchema(Strict):
    """proof.json: what came of running a demonstration again."""

    piece = "proof"

    format = string("always `demotape/proof`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    demonstration = digest("SHA-256 of what was run: intents, arguments and targets of the turns")
    recording = string("id of the recording")
    made_at = wall_clock("wall clock when it was run")
    demotape = string("version of demotape that ran it")
    browser = string("name and version of the browser that it ran in")
    live = flag("true when it ran on the real network instead of what was recorded")
    verdict = string("the worst of the turns' verdicts", validate=validate.OneOf(VERDICTS))
    last = string("the verdict on the last state", validate=validate.OneOf(VERDICTS))
    seconds = number("how long it took", minimum=0)
    recorded_seconds = number("how long the recorded session took, from its first turn to its last", minimum=0)
    turns = listing(fields.Nested(TurnProofSchema), "what came of each turn that was run, in order")
    missing = listing(fields.Nested(MissingSchema), "requests that were not recorded")
