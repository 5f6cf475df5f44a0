"""The exchanges of one method and address without its parameters, and those among them that a request fits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from . import variants
from .addresses import ONE_MISSING, Address, query_likeness
from .bodies import Pair, Tally, has_stand_in, likeness, outline
from .exchanges import Recorded, Request, header
from .order import Course, Queue, is_save
from .varying import Fixed, Given, content, is_made, varies_by_name

LEAST = 0.8  # a match below this is none
LOOSE = 0.999  # what is not equal letter by letter is never 1
_VARIANTS = 64  # that are told apart
_SIGNATURES = 512  # of a place that are compared when none is equal
_TRIED = 8  # of them
_LEARNT_FROM = 200  # queries of a place
_VARIED = "\0"

Found = tuple[int, float]  # the place of an exchange in the recorded order, and its score
Grade = Callable[[int], float]


@dataclass(frozen=True)
class Asked:
    """A request as it is compared."""

    request: Request
    address: Address

    @cached_property
    def body(self) -> bytes | None:
        """What is sent; None for nothing."""
        return self.request.body or None

    @cached_property
    def content_type(self) -> str:
        """Of what is sent."""
        return header(self.request.headers, "content-type")

    @cached_property
    def referer(self) -> str:
        """The page that asks."""
        return header(self.request.headers, "referer")


class Known:
    """What places share: the exchanges with their parts, the course of the session, what answers gave."""

    def __init__(self, course: Course, given: Given, addresses: Sequence[Address]):
        self.course = course
        self.exchanges = course.exchanges
        self.addresses = addresses
        self._given = given
        self._variants: dict[int, variants.Variant] = {}
        self._saves: dict[int, bool] = {}

    def fixed(self, place: int) -> Fixed:
        """What of a recorded request cannot vary by itself."""
        return self._given.fixed(self.exchanges[place])

    def tally(self, place: int, learnt: frozenset[str] = frozenset()) -> Tally:
        """A new one, for a comparison with a recorded request."""
        return Tally(self.fixed(place), learnt, place in self.course.beacons, self._is_save(place))

    def _is_save(self, place: int) -> bool:
        if place not in self._saves:
            self._saves[place] = is_save(self.exchanges[place])
        return self._saves[place]

    def variant(self, place: int) -> variants.Variant:
        """What decides among answers of one address."""
        if place not in self._variants:
            self._variants[place] = variants.variant(self.exchanges[place])
        return self._variants[place]


class Key:
    """Exchanges whose addresses fit a request alike: the body decides first among them, then the order."""

    def __init__(self, known: Known, places: list[int]):
        self._known = known
        self._places = places
        self._bodies: dict[bytes | None, list[int]] = {}
        for place in places:
            self._bodies.setdefault(known.exchanges[place].body or None, []).append(place)
        self._queues: dict[object, Queue] = {}

    def equal(self, asked: Asked) -> Found | None:
        """The one whose turn it is of those whose body is equal."""
        queue = self._same_body(asked)
        return (self._of_variant(queue, asked).turn(asked.referer), 1.0) if queue else None

    def alike(self, asked: Asked, grade: Grade) -> Found | None:
        """The one that is most alike, and of several the one whose turn it is. `grade`: how alike addresses are."""
        for queue in self._from_surest(asked):
            turn = queue.turn(asked.referer)
            graded = {place: grade(place) for place in queue.near(turn)}
            graded = {place: min(LOOSE, score * self._body_likeness(place, asked))
                      for place, score in graded.items() if score >= LEAST}
            most = max(graded.values(), default=0.0)
            if most >= LEAST:
                best = [place for place, score in graded.items() if score > most - 1e-9]
                tied = queue if len(best) == len(queue) else Queue(self._known.course, best, kept=False)
                return self._of_variant(tied, asked).turn(asked.referer), most
        return None

    def _from_surest(self, asked: Asked) -> Iterator[Queue]:
        if same := self._same_body(asked):
            yield same
        if len(self._bodies) > 1 or not same:
            if asked.body and (queue := self._same_outline(asked)):
                yield queue
            yield self._queue("all", self._places)

    def _same_body(self, asked: Asked) -> Queue | None:
        places = self._bodies.get(asked.body)
        return self._queue(("body", asked.body), places) if places else None

    def _same_outline(self, asked: Asked) -> Queue | None:
        wanted = outline(asked.body or b"", asked.content_type)
        places = self._by_outline.get(wanted)
        return self._queue(("outline", wanted), places) if places else None

    @cached_property
    def _by_outline(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for body, places in self._bodies.items():
            if body:
                content_type = header(self._known.exchanges[places[0]].headers, "content-type")
                found.setdefault(outline(body, content_type), []).extend(places)
        return found

    def _body_likeness(self, place: int, asked: Asked) -> float:
        return likeness(self._known.exchanges[place].body, asked.body, asked.content_type, self._known.tally(place))

    def _of_variant(self, queue: Queue, asked: Asked) -> Queue:
        """Those of a queue that agree best with what else the request says."""
        if len(queue) == 1:
            return queue
        if queue.variants is None:
            queue.variants = {}
            for place in queue.places:
                queue.variants.setdefault(self._known.variant(place), []).append(place)
        if not 1 < len(queue.variants) <= _VARIANTS:
            return queue
        best = variants.best(queue.variants, asked.request.headers)
        places = [place for one in best for place in queue.variants[one]]
        if not queue.kept:
            return Queue(self._known.course, places, kept=False)
        return self._queue((id(queue), frozenset(best)), places)

    def _queue(self, name: object, places: list[int]) -> Queue:
        if name not in self._queues:
            self._queues[name] = Queue(self._known.course, places)
        return self._queues[name]


class Place:
    """All exchanges of one method, origin and path."""

    def __init__(self, known: Known):
        self._known = known
        self._by_query: dict[str, list[int]] = {}
        self._keys: dict[object, Key] = {}
        self._fixed: set[Pair] = set()  # parameters that look as if they were made by chance and were not

    def forget(self) -> None:
        """What was given: all is unused again."""
        self._keys.clear()

    def add(self, place: int) -> None:
        """One more exchange, in the recorded order."""
        self._by_query.setdefault(self._known.addresses[place].query, []).append(place)

    @property
    def first(self) -> int:
        """The place of its first exchange."""
        return next(iter(self._by_query.values()))[0]

    def equal(self, asked: Asked) -> Found | None:
        """What has the same parameters, letter by letter, and the same body."""
        places = self._by_query.get(asked.address.query)
        return self._key(("query", asked.address.query), places).equal(asked) if places else None

    def alike(self, asked: Asked, factor: float = 1.0) -> Found | None:
        """What is most alike. `factor`: how alike the paths are."""
        def grade(place: int) -> float:
            recorded = self._known.addresses[place]
            if recorded.query == asked.address.query:
                return factor
            tally = self._known.tally(place, self._learnt)
            return factor * query_likeness(recorded.pairs, asked.address.pairs, tally)

        for name, places in self._from_surest(asked):
            if found := self._key(name, places).alike(asked, grade):
                return found
        return None

    def _from_surest(self, asked: Asked) -> Iterator[tuple[object, list[int]]]:
        query = asked.address.query
        if query in self._by_query:
            yield ("query", query), self._by_query[query]
        wanted = self._asked_signature(asked.address.pairs)
        if wanted in self._by_signature:
            yield ("signature", wanted), self._by_signature[wanted]
        for signature in self._near(wanted):
            yield ("signature", signature), self._by_signature[signature]

    def _near(self, wanted: frozenset[Pair]) -> list[frozenset[Pair]]:
        """Signatures with the same values that lack some of the wanted or have more, the most alike first."""
        names = {name for name, _ in wanted}
        found: list[tuple[int, int, frozenset[Pair]]] = []
        for signature in islice(self._by_signature, _SIGNATURES):
            missing = signature ^ wanted
            agreed = 1 + len(signature & wanted)
            if missing and agreed / (agreed + ONE_MISSING * len(missing)) >= LEAST and not (
                    names & {name for name, _ in signature - wanted}):
                found.append((len(missing), len(found), signature))
        return [signature for _, _, signature in sorted(found, key=lambda one: one[:2])[:_TRIED]]

    def _key(self, name: object, places: list[int]) -> Key:
        if name not in self._keys:
            self._keys[name] = Key(self._known, places)
        return self._keys[name]

    @cached_property
    def _beacons_only(self) -> bool:
        return all(place in self._known.course.beacons for places in self._by_query.values() for place in places)

    @cached_property
    def _wild(self) -> frozenset[str]:
        """Parameters whose recorded values had a secret in them."""
        return frozenset(name for places in self._by_query.values() for name, value in
                         self._known.addresses[places[0]].pairs if has_stand_in(value))

    @cached_property
    def _learnt(self) -> frozenset[str]:
        """Parameters that vary, as the recording shows: all else equal, so were the answers. Two of them may be alike
        by chance, as for words that are not found; then the values have to be no words."""
        seen: dict[tuple[str, frozenset[Pair]], dict[str, int]] = {}
        for places in islice(self._by_query.values(), _LEARNT_FROM):
            pairs = self._known.addresses[places[0]].pairs[:50]
            told = frozenset((name, _VARIED if varies_by_name(name) or is_made(value) else value)
                             for name, value in pairs)
            for name, value in pairs:
                others = frozenset(pair for pair in told if pair[0] != name)
                seen.setdefault((name, others), {}).setdefault(value, places[0])
        names: dict[str, bool] = {}
        for (name, _), values in seen.items():
            if len(values) > 1 and names.get(name, True):
                surely = len(values) > 2 or all(any(map(str.isdigit, value)) for value in values)
                names[name] = surely and len({self._answer(place) for place in values.values()}) == 1
        return frozenset(name for name, varies in names.items() if varies)

    def _answer(self, place: int) -> tuple[int, bytes | None]:
        exchange: Recorded = self._known.exchanges[place]
        told = content(exchange)
        return exchange.status if told is not None else -place, told

    @cached_property
    def _by_signature(self) -> dict[frozenset[Pair], list[int]]:
        found: dict[frozenset[Pair], list[int]] = {}
        for places in self._by_query.values():
            found.setdefault(self._signature(self._known.addresses[places[0]].pairs, places[0]), []).extend(places)
        return found

    def _signature(self, pairs: Sequence[Pair], place: int) -> frozenset[Pair]:
        """The parameters of a recorded address that tell what is asked for."""
        fixed = self._known.fixed(place)
        for name, value in pairs:
            if is_made(value) and not varies_by_name(name) and fixed(value):
                self._fixed.add((name, value))
        return self._asked_signature(pairs)

    def _asked_signature(self, pairs: Sequence[Pair]) -> frozenset[Pair]:
        if self._beacons_only:
            return frozenset()
        return frozenset((name, _VARIED if is_made(value) and (name, value) not in self._fixed else value)
                         for name, value in pairs if value and name not in self._learnt and name not in self._wild
                         and not varies_by_name(name))
