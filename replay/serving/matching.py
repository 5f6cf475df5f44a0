"""Match a request with the recorded exchange that answers it. Pure: nothing is asked, written or run; answers are only
looked at.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from urllib.parse import quote

from replay.archive.exchanges import Archive, Recorded, Request, header

from .addresses import Address, address, is_wild, path_likeness, query_likeness
from .bodies import LARGEST, Pair, compare, made_values
from .candidates import MAX_INEXACT_SCORE, MIN_SCORE, IncomingRequest, RequestGroup, ScoredIndex, SharedExchanges
from .session_history import Queue, SessionHistory
from .volatile_values import ServedValues, content, is_made_segment

_CONDITIONS = frozenset(("if-none-match", "if-modified-since"))
_MAX_RENAMED_VALUES = 200  # values that are looked for in a request
_MIN_DISTINCT_CHARS = 8  # characters of these
_MIN_CARRIED_CHARS = 4  # characters of a value that is carried over into an answer
_MAX_CARRIED_CHARS = 4096
_MADE = "\0"
_MAX_WILD_PATHS = 64  # paths with a secret in them that are tried

RULES = (  # from the first that decides to the last; docs/replay.md has them for people
    ("answered first",
     "An exchange that was answered goes before one that failed. A 304 without content is given only to a "
     "conditional request, and only when nothing with content fits."),
    ("address",
     "Method and address are equal, letter by letter, without the part after #. HEAD may have what GET had."),
    ("body",
     "Among those the body decides: JSON and GraphQL by value, forms by field, multipart forms by part, without "
     "the boundary, other text as text, all else as equal or not."),
    ("said besides",
     "Then the headers that choose among answers of one address (Accept, HX-Request and such), and the range of a "
     "206."),
    ("order",
     "Then the order. Requests that change something and documents of a tab are steps. The first one not used is "
     "given that lies after the latest step that happened and before the next; else the latest one before, or that "
     "of a later one that was given already; else the first of what comes only after steps that have not happened."),
    ("no step",
     "Requests that only tell something (pings, and those to another origin that get no content) and GraphQL "
     "queries are no steps: they may come at any time."),
    ("tabs",
     "With several tabs, a page (Referer) gets what it asked for itself in the present stretch of its own tab."),
    ("loosely",
     "Where no address is equal, the most alike is given, if it is at least LEAST alike. Parameters that vary by "
     "themselves count little: by name (_, nocache, CSRF tokens, callback and such), because both values look "
     "random or are moments, or because the recording shows that the answer is the same. So do parts of a path "
     "that look random or are numbers of five digits or more."),
    ("given values",
     "A value that an earlier answer gave, and a moment an hour or more away from the request, do not vary by "
     "themselves, however they look. Where an answer was given with an actual value instead of the recorded one, "
     "later requests with the actual one get what was recorded with the other."),
    ("choices",
     "Any other value that differs was chosen, in an address as in a body: then nothing is given. A parameter that "
     "only one has counts one and a half times what one counts that agrees."),
    ("typed so far",
     "Where a request that changes something got an answer without content, as pages get that save what is being "
     "typed, a text may be the beginning of the recorded one or go on from it."),
    ("only told",
     "Of requests that only tell something it does not matter what they send."),
    ("stand-ins",
     "Where a secret was replaced, in an address, a header or a body, anything of one line fits."),
)

__all__ = ["MIN_SCORE", "RULES", "Match", "Session"]


@dataclass(frozen=True)
class Match:
    """The exchange that answers a request. `score`: from MIN_SCORE to 1; 1 where address and body are equal. `carried`:
    a recorded value and the actual one for each that has to be replaced in the answer."""

    exchange: Recorded
    score: float
    carried: tuple[Pair, ...] = ()


class Session:
    """An archive as it is served: knows what was given, so that what is asked again gets what came then."""

    def __init__(self, archive: Archive):
        exchanges = tuple(sorted(archive.exchanges, key=lambda exchange: exchange.number))
        self._exchanges = exchanges
        self._addresses = [address(exchange.url) for exchange in exchanges]
        self._course = SessionHistory(exchanges)
        ordered = Archive(exchanges, archive.channels, archive.started)
        known = SharedExchanges(self._course, ServedValues(ordered, self._made), self._addresses)
        kinds: dict[str, list[int]] = {"answered": [], "unchanged": [], "failed": []}
        for index, exchange in enumerate(exchanges):
            kinds[_kind(exchange)].append(index)
        self._answered, self._unchanged, self._failed = (_RequestIndex(known, indices) for indices in kinds.values())
        self._known = known
        self._renamed: dict[str, str] = {}  # actual values that went into answers, with the recorded ones

    def reset(self) -> None:
        """Back to the start: nothing was given."""
        self._renamed.clear()
        self._course.reset()
        for index in (self._answered, self._unchanged, self._failed):
            index.forget()

    def match(self, request: Request) -> Match | None:
        """What answers a request, or None when nothing does well enough."""
        incoming = IncomingRequest(request, address(request.url))
        best = self._find(incoming)
        if best is None or best[1] < 1:
            as_recorded = self._as_recorded(incoming)
            renamed_best = self._find(as_recorded) if as_recorded else None
            if renamed_best and (best is None or renamed_best[1] > best[1]):
                best = renamed_best[0], min(renamed_best[1], MAX_INEXACT_SCORE)
        if best is None:
            return None
        index, score = best
        if request.method.upper() == self._exchanges[index].method.upper():  # HEAD takes no turn of GET
            self._course.use(index)
        carried = self._carried(index, incoming) if score < 1 else ()
        self._renamed |= {actual: recorded_value for recorded_value, actual in carried
                          if len(actual) >= _MIN_DISTINCT_CHARS}
        return Match(self._exchanges[index], score, carried)

    def _find(self, incoming: IncomingRequest) -> ScoredIndex | None:
        method = _method(incoming.request)
        for index in self._indexes(incoming.request):
            for recorded_method in ("HEAD", "GET") if method == "HEAD" else (method,):
                if scored := index.find(recorded_method, incoming):
                    return scored
        return None

    def _as_recorded(self, incoming: IncomingRequest) -> IncomingRequest | None:
        """The request with the recorded values instead of those that were carried over into earlier answers, the latest
        of them; None when there are none in it."""
        request, body = incoming.request, incoming.body
        url = request.url
        for actual, recorded_value in islice(reversed(self._renamed.items()), _MAX_RENAMED_VALUES):
            url = url.replace(actual, recorded_value)
            if body and len(body) <= LARGEST:
                body = body.replace(actual.encode(), recorded_value.encode())
        if url == request.url and body == incoming.body:
            return None
        return IncomingRequest(replace(request, url=url, body=body), address(url))

    def _indexes(self, request: Request) -> Iterator["_RequestIndex"]:
        yield self._answered
        if any(name.lower() in _CONDITIONS for name, _ in request.headers):
            yield self._unchanged
        yield self._failed

    def _made(self) -> Iterator[str]:
        """All recorded values that look as if they were made by chance."""
        for parsed, exchange in zip(self._addresses, self._exchanges, strict=True):
            yield from filter(is_made_segment, parsed.segments)
            yield from (value for _, value in parsed.pairs)
            yield from made_values(exchange.body)

    def _carried(self, index: int, incoming: IncomingRequest) -> tuple[Pair, ...]:
        """What the request has otherwise than recorded and the recorded answer has as well."""
        exchange, recorded = self._exchanges[index], self._addresses[index]
        tally = self._known.tally(index)
        tally.any_value = True  # it was decided before
        path_likeness(recorded, incoming.address, differences=tally.differences)
        query_likeness(recorded.pairs, incoming.address.pairs, tally)
        if exchange.body and incoming.body and exchange.body != incoming.body:
            compare(exchange.body, incoming.body, incoming.content_type, tally)
        pairs = [pair for pair in dict.fromkeys(tally.differences) if _may_be_carried(*pair)]
        if not pairs:
            return ()
        answer = "\n".join(value for _, value in exchange.answer_headers).encode("utf-8", "replace")
        answer += b"\n" + (content(exchange) or b"")
        written = chain(pairs, ((quote(recorded_value, safe=""), quote(actual_value, safe="")) for recorded_value,
                                actual_value in pairs))
        return tuple(pair for pair in dict.fromkeys(written) if pair[0].encode() in answer)


class _RequestIndex:
    """Finds exchanges by method and address."""

    def __init__(self, shared: SharedExchanges, indices: Iterable[int]):
        self._known = shared
        self._groups: dict[tuple[str, str, str], RequestGroup] = {}
        self._by_length: dict[tuple[str, str, int], list[RequestGroup]] = {}
        self._shapes: dict[tuple[str, str, int], _PathShapes] = {}
        for index in indices:
            parsed = shared.addresses[index]
            method = _method(shared.exchanges[index])
            group = self._groups.get((method, parsed.origin, parsed.path))
            if group is None:
                group = self._groups[method, parsed.origin, parsed.path] = RequestGroup(shared)
                self._by_length.setdefault((method, parsed.origin, parsed.path.count("/")), []).append(group)
            group.add(index)

    def forget(self) -> None:
        """All is unused again."""
        self._shapes.clear()
        for group in self._groups.values():
            group.forget()

    def find(self, method: str, incoming: IncomingRequest) -> ScoredIndex | None:
        """The exchange that answers, with its score."""
        requested = incoming.address
        group = self._groups.get((method, requested.origin, requested.path))
        if group and (scored := group.equal(incoming) or group.most_similar(incoming)):
            return scored
        key = method, requested.origin, requested.path.count("/")
        if key not in self._by_length:
            return None
        if key not in self._shapes:
            self._shapes[key] = _PathShapes(self._known, self._by_length[key])
        graded = [(scored[1], -order, scored) for order,
                  (other_group, factor) in enumerate(self._shapes[key].similar_groups(requested))
                  if other_group is not group and (scored := other_group.most_similar(incoming, factor))]
        return max(graded)[2] if graded else None


class _PathShapes:
    """Request groups of one origin whose paths have as many parts, by their parts that do not vary by themselves."""

    def __init__(self, shared: SharedExchanges, groups: Iterable[RequestGroup]):
        self._known = shared
        self._literal: set[tuple[int, str]] = set()  # parts that look as if they were made by chance and were not
        self._wild: list[RequestGroup] = []
        self._by_first: dict[int, RequestGroup] = {}
        self._queues: dict[tuple[str, ...], Queue] = {}
        by_shape: dict[tuple[str, ...], list[int]] = {}
        for group in groups:
            parsed, fixed = shared.addresses[group.first], shared.fixed(group.first)
            if is_wild(parsed):
                self._wild.append(group)
                continue
            self._literal |= {(index, part) for index, part in enumerate(parsed.segments)
                              if is_made_segment(part) and fixed(part)}
            shape = self._shape(parsed)
            if _MADE in shape:
                self._by_first[group.first] = group
                by_shape.setdefault(shape, []).append(group.first)
        for shape, firsts in by_shape.items():
            self._queues[shape] = Queue(shared.course, firsts)

    def _shape(self, parsed: Address) -> tuple[str, ...]:
        return tuple(_MADE if is_made_segment(part) and (index, part) not in self._literal else part
                     for index, part in enumerate(parsed.segments))

    def similar_groups(self, requested: Address) -> Iterator[tuple[RequestGroup, float]]:
        """Groups whose path is similar to a requested one, with the likeness of the path: above 0, at most 1.

        First those of the same shape, beginning with the one that comes next in the session; then those with a stand-in
        for a secret in their path.
        """
        for group in chain(self._of_same_shape(requested), self._wild[:_MAX_WILD_PATHS]):
            likeness = path_likeness(self._known.addresses[group.first], requested, self._known.fixed(group.first))
            if likeness:
                yield group, likeness

    def _of_same_shape(self, requested: Address) -> list[RequestGroup]:
        queue = self._queues.get(self._shape(requested))
        if not queue:
            return []
        turn = queue.turn()
        return [self._by_first[first] for first in dict.fromkeys([turn, *queue.neighbours(turn)])]


def _method(request: Request | Recorded) -> str:
    """The method; CORS preflights are apart from what else is requested by OPTIONS."""
    method = request.method.upper()
    is_preflight = method == "OPTIONS" and header(request.headers, "access-control-request-method")
    return "preflight" if is_preflight else method


def _kind(exchange: Recorded) -> str:
    if exchange.status == 0:
        return "failed"
    return "unchanged" if exchange.status == 304 and not content(exchange) else "answered"


def _may_be_carried(recorded: str, actual: str) -> bool:
    if not (_MIN_CARRIED_CHARS <= len(recorded) <= _MAX_CARRIED_CHARS
            and _MIN_CARRIED_CHARS <= len(actual) <= _MAX_CARRIED_CHARS):
        return False
    return not any("\ud800" <= letter <= "\udfff" for letter in recorded + actual)
