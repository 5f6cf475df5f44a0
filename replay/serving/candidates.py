"""Groups of recorded exchanges with one method and path, and the best candidate in a group for a request."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from replay.archive.exchanges import Recorded, Request, header

from . import variants
from .addresses import ONE_MISSING, Address, query_likeness
from .bodies import Pair, Tally, has_stand_in, likeness, outline
from .session_history import Queue, SessionHistory, is_save
from .volatile_values import ServedValues, StableParts, content, is_made, varies_by_name

MIN_SCORE = 0.8  # of a match
MAX_INEXACT_SCORE = 0.999  # of a match that is not equal letter by letter
_MAX_VARIANTS = 64  # that are distinguished
_MAX_SIGNATURES = 512  # of a group that are compared when none is equal
_MAX_CANDIDATES = 8  # of those signatures
_MAX_QUERIES_LEARNT_FROM = 200  # of a group
_VARIED = "\0"

ScoredIndex = tuple[int, float]  # index of an exchange in the recorded order, and its score
Grade = Callable[[int], float]


@dataclass(frozen=True)
class IncomingRequest:
    """A request of the replay, with the parts that are compared."""

    request: Request
    address: Address

    @cached_property
    def body(self) -> bytes | None:
        """The request body; None when it is empty."""
        return self.request.body or None

    @cached_property
    def content_type(self) -> str:
        """The media type of the body."""
        return header(self.request.headers, "content-type")

    @cached_property
    def referer(self) -> str:
        """The address of the page that sends the request."""
        return header(self.request.headers, "referer")


class SharedExchanges:
    """State that all groups share: the exchanges with parsed addresses, the session history, served values."""

    def __init__(self, history: SessionHistory, served: ServedValues, addresses: Sequence[Address]):
        self.course = history
        self.exchanges = history.exchanges
        self.addresses = addresses
        self._given = served
        self._variants: dict[int, variants.Variant] = {}
        self._saves: dict[int, bool] = {}

    def fixed(self, index: int) -> StableParts:
        """The parts of a recorded request that do not vary by themselves."""
        return self._given.fixed(self.exchanges[index])

    def tally(self, index: int, learnt: frozenset[str] = frozenset()) -> Tally:
        """A new tally for a comparison with a recorded request."""
        return Tally(self.fixed(index), learnt, index in self.course.beacons, self._is_save(index))

    def _is_save(self, index: int) -> bool:
        if index not in self._saves:
            self._saves[index] = is_save(self.exchanges[index])
        return self._saves[index]

    def variant(self, index: int) -> variants.Variant:
        """The headers that choose among answers of one address."""
        if index not in self._variants:
            self._variants[index] = variants.variant(self.exchanges[index])
        return self._variants[index]


class FittingExchanges:
    """Exchanges whose addresses fit a request equally well: the body decides first among them, then the order."""

    def __init__(self, shared: SharedExchanges, indices: list[int]):
        self._known = shared
        self._indices = indices
        self._bodies: dict[bytes | None, list[int]] = {}
        for index in indices:
            self._bodies.setdefault(shared.exchanges[index].body or None, []).append(index)
        self._queues: dict[object, Queue] = {}

    def equal(self, incoming: IncomingRequest) -> ScoredIndex | None:
        """The next exchange in order among those with an equal body."""
        queue = self._same_body(incoming)
        return (self._of_variant(queue, incoming).turn(incoming.referer), 1.0) if queue else None

    def most_similar(self, incoming: IncomingRequest, grade: Grade) -> ScoredIndex | None:
        """The most similar exchange; of several, the next one in order. `grade`: the similarity of addresses."""
        for queue in self._most_certain_first(incoming):
            turn = queue.turn(incoming.referer)
            graded = {index: grade(index) for index in queue.neighbours(turn)}
            graded = {index: min(MAX_INEXACT_SCORE, score * self._body_likeness(index, incoming))
                      for index, score in graded.items() if score >= MIN_SCORE}
            best_score = max(graded.values(), default=0.0)
            if best_score >= MIN_SCORE:
                best = [index for index, score in graded.items() if score > best_score - 1e-9]
                tied = queue if len(best) == len(queue) else Queue(self._known.course, best, reusable=False)
                return self._of_variant(tied, incoming).turn(incoming.referer), best_score
        return None

    def _most_certain_first(self, incoming: IncomingRequest) -> Iterator[Queue]:
        if same_body := self._same_body(incoming):
            yield same_body
        if len(self._bodies) > 1 or not same_body:
            if incoming.body and (queue := self._same_outline(incoming)):
                yield queue
            yield self._queue("all", self._indices)

    def _same_body(self, incoming: IncomingRequest) -> Queue | None:
        indices = self._bodies.get(incoming.body)
        return self._queue(("body", incoming.body), indices) if indices else None

    def _same_outline(self, incoming: IncomingRequest) -> Queue | None:
        wanted = outline(incoming.body or b"", incoming.content_type)
        indices = self._by_outline.get(wanted)
        return self._queue(("outline", wanted), indices) if indices else None

    @cached_property
    def _by_outline(self) -> dict[int, list[int]]:
        by_outline: dict[int, list[int]] = {}
        for body, indices in self._bodies.items():
            if body:
                content_type = header(self._known.exchanges[indices[0]].headers, "content-type")
                by_outline.setdefault(outline(body, content_type), []).extend(indices)
        return by_outline

    def _body_likeness(self, index: int, incoming: IncomingRequest) -> float:
        return likeness(self._known.exchanges[index].body, incoming.body, incoming.content_type,
                        self._known.tally(index))

    def _of_variant(self, queue: Queue, incoming: IncomingRequest) -> Queue:
        """The part of a queue that agrees best with the other headers of the request."""
        if len(queue) == 1:
            return queue
        if queue.variants is None:
            queue.variants = {}
            for index in queue.indices:
                queue.variants.setdefault(self._known.variant(index), []).append(index)
        if not 1 < len(queue.variants) <= _MAX_VARIANTS:
            return queue
        best = variants.best(queue.variants, incoming.request.headers)
        indices = [index for variant in best for index in queue.variants[variant]]
        if not queue.reusable:
            return Queue(self._known.course, indices, reusable=False)
        return self._queue((id(queue), frozenset(best)), indices)

    def _queue(self, name: object, indices: list[int]) -> Queue:
        if name not in self._queues:
            self._queues[name] = Queue(self._known.course, indices)
        return self._queues[name]


class RequestGroup:
    """All exchanges of one method, origin and path."""

    def __init__(self, known: SharedExchanges):
        self._known = known
        self._by_query: dict[str, list[int]] = {}
        self._fitting: dict[object, FittingExchanges] = {}
        self._fixed: set[Pair] = set()  # parameters that look as if they were made by chance and were not

    def forget(self) -> None:
        """Mark all exchanges as unused."""
        self._fitting.clear()

    def add(self, index: int) -> None:
        """Add an exchange; they come in the recorded order."""
        self._by_query.setdefault(self._known.addresses[index].query, []).append(index)

    @property
    def first(self) -> int:
        """The index of the first exchange."""
        return next(iter(self._by_query.values()))[0]

    def equal(self, incoming: IncomingRequest) -> ScoredIndex | None:
        """The exchange with the same parameters, letter by letter, and the same body."""
        indices = self._by_query.get(incoming.address.query)
        return self._fitting_exchanges(("query", incoming.address.query), indices).equal(incoming) if indices else None

    def most_similar(self, incoming: IncomingRequest, factor: float = 1.0) -> ScoredIndex | None:
        """The most similar exchange. `factor`: the similarity of the paths."""
        def grade(index: int) -> float:
            recorded = self._known.addresses[index]
            if recorded.query == incoming.address.query:
                return factor
            tally = self._known.tally(index, self._learnt)
            return factor * query_likeness(recorded.pairs, incoming.address.pairs, tally)

        for name, indices in self._most_certain_first(incoming):
            if scored := self._fitting_exchanges(name, indices).most_similar(incoming, grade):
                return scored
        return None

    def _most_certain_first(self, incoming: IncomingRequest) -> Iterator[tuple[object, list[int]]]:
        query = incoming.address.query
        if query in self._by_query:
            yield ("query", query), self._by_query[query]
        wanted = self._request_signature(incoming.address.pairs)
        if wanted in self._by_signature:
            yield ("signature", wanted), self._by_signature[wanted]
        for signature in self._similar_signatures(wanted):
            yield ("signature", signature), self._by_signature[signature]

    def _similar_signatures(self, wanted: frozenset[Pair]) -> list[frozenset[Pair]]:
        """Signatures with the same values that lack some of the wanted or have more, the most similar first."""
        names = {name for name, _ in wanted}
        ranked: list[tuple[int, int, frozenset[Pair]]] = []
        for signature in islice(self._by_signature, _MAX_SIGNATURES):
            missing = signature ^ wanted
            agreed = 1 + len(signature & wanted)
            if missing and agreed / (agreed + ONE_MISSING * len(missing)) >= MIN_SCORE and not (
                    names & {name for name, _ in signature - wanted}):
                ranked.append((len(missing), len(ranked), signature))
        return [signature for _, _, signature in sorted(ranked, key=lambda rank: rank[:2])[:_MAX_CANDIDATES]]

    def _fitting_exchanges(self, name: object, indices: list[int]) -> FittingExchanges:
        """The exchanges with these indices; the same object, which knows what was used, at each call with the name."""
        if name not in self._fitting:
            self._fitting[name] = FittingExchanges(self._known, indices)
        return self._fitting[name]

    @cached_property
    def _beacons_only(self) -> bool:
        return all(index in self._known.course.beacons for indices in self._by_query.values() for index in indices)

    @cached_property
    def _wild(self) -> frozenset[str]:
        """Parameters whose recorded values had a secret in them."""
        return frozenset(name for indices in self._by_query.values() for name, value in
                         self._known.addresses[indices[0]].pairs if has_stand_in(value))

    @cached_property
    def _learnt(self) -> frozenset[str]:
        """Parameters that vary, as the recording shows: all else equal, so were the answers. Two of them may be alike
        by chance, as for words that are not found; then the values have to be no words."""
        values_by_rest: dict[tuple[str, frozenset[Pair]], dict[str, int]] = {}
        for indices in islice(self._by_query.values(), _MAX_QUERIES_LEARNT_FROM):
            pairs = self._known.addresses[indices[0]].pairs[:50]
            normalised = frozenset((name, _VARIED if varies_by_name(name) or is_made(value) else value)
                                   for name, value in pairs)
            for name, value in pairs:
                rest = frozenset(pair for pair in normalised if pair[0] != name)
                values_by_rest.setdefault((name, rest), {}).setdefault(value, indices[0])
        names: dict[str, bool] = {}
        for (name, _), values in values_by_rest.items():
            if len(values) > 1 and names.get(name, True):
                is_certain = len(values) > 2 or all(any(map(str.isdigit, value)) for value in values)
                names[name] = is_certain and len({self._answer(index) for index in values.values()}) == 1
        return frozenset(name for name, varies in names.items() if varies)

    def _answer(self, index: int) -> tuple[int, bytes | None]:
        exchange: Recorded = self._known.exchanges[index]
        body = content(exchange)
        return exchange.status if body is not None else -index, body

    @cached_property
    def _by_signature(self) -> dict[frozenset[Pair], list[int]]:
        by_signature: dict[frozenset[Pair], list[int]] = {}
        for indices in self._by_query.values():
            by_signature.setdefault(self._signature(self._known.addresses[indices[0]].pairs, indices[0]),
                                    []).extend(indices)
        return by_signature

    def _signature(self, pairs: Sequence[Pair], index: int) -> frozenset[Pair]:
        """The parameters of a recorded address that identify the requested content."""
        fixed = self._known.fixed(index)
        for name, value in pairs:
            if is_made(value) and not varies_by_name(name) and fixed(value):
                self._fixed.add((name, value))
        return self._request_signature(pairs)

    def _request_signature(self, pairs: Sequence[Pair]) -> frozenset[Pair]:
        if self._beacons_only:
            return frozenset()
        return frozenset((name, _VARIED if is_made(value) and (name, value) not in self._fixed else value)
                         for name, value in pairs if value and name not in self._learnt and name not in self._wild
                         and not varies_by_name(name))
