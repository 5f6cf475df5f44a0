"""The list of demonstrations: found by texts and facets, sorted, and paged by the last row's key.

No page is reached by counting rows from the start, and nothing is folded: all of it stands in columns, in the table of
facets and in that of texts.
"""

import base64
import binascii
import json
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Engine, Select, and_, func, literal, or_, select
from sqlalchemy.exc import DataError
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from curator_web.db.database import Database
from curator_web.db.models.core import MAIN, ORDERS, STATUSES, Demonstration, DemonstrationText, Facet, Project
from curator_web.demonstrations.leases import visibility
from curator_web.demonstrations.library.replay_proofs import STATES
from curator_web.demonstrations.library.search_index import SearchQuery
from curator_web.demonstrations.library.search_index import sought as sought_texts
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from pipeline.export import EXPORT_ACTORS, OUTCOMES
from pipeline.export.selection import UNDECIDED
from schemas.actors import UNKNOWN_ACTOR
from schemas.text import storable

from .matches import TurnMatch, matches_of

PAGE_SIZE = 50
COUNT_LIMIT = 200  # of what is found by facets and texts; more are told as "more than"
RARE = 400  # (more than are counted) so few are looked up one by one; more are met soon on the way through the order
SITES_LIMIT = 500
NEWEST = "imported_at"
TEXT_LENGTH = 200
UNKNOWN_EXPRESSION = "field search: the database does not support this expression"


@dataclass(frozen=True)
class Filter:
    """Which demonstrations, in which order; every field is a parameter of the page's address.

    `search`: words in task, site, id and turns, in an address also as `q`. `since` and `until`: days on which they were
    recorded, both included. `after` is a `Page.next` or `previous`.
    """

    search: str = ""
    status: str = ""
    proof: str = ""
    actor: str = ""
    outcome: str = ""
    site: str = ""
    intent: str = ""
    check: str = ""
    person: str = ""
    label: str = ""
    assigned: str = ""
    since: str = ""
    until: str = ""
    sort: str = NEWEST
    order: str = "desc"
    after: str = ""

    def parameters(self, **changes) -> dict[str, str]:
        """The parameters that say something, for an address; a change of what is sought begins at the first page."""
        changed = replace(self, after="", **changes) if "after" not in changes else replace(self, **changes)
        usual = Filter()
        return {name: value for name, value in asdict(changed).items() if value and value != getattr(usual, name)}

    @property
    def seeks(self) -> bool:
        """Whether anything is left out."""
        return bool(self.parameters(sort=NEWEST, order="desc"))

    @property
    def needs_facets(self) -> bool:
        """Whether columns alone cannot tell what fits."""
        return bool(self.search or self.intent or self.check or self.person or self.label)


@dataclass(frozen=True)
class Page:
    """One page of the list.

    `total`: how many there are in all; when facets or texts are sought, no further than COUNT_LIMIT + 1, and None on
    the pages after the first. `problem`: what is wrong with what was sought. `matches`: the turns that have words of
    the search, by demonstration.
    """

    rows: list[Demonstration]
    total: int | None
    next: str = ""
    previous: str = ""
    filter: Filter = field(default_factory=Filter)
    problem: str = ""
    matches: dict[str, list[TurnMatch]] = field(default_factory=dict)

    @property
    def more_than(self) -> bool:
        return self.filter.needs_facets and (self.total or 0) > COUNT_LIMIT


def read_filter(parameters) -> Filter:
    """The filter that an address's parameters mean; what makes no sense is left out, so that every address works."""
    values = {field_.name: storable(parameters.get(field_.name, "")).strip()[:TEXT_LENGTH] for field_ in fields(Filter)}
    values["search"] = values["search"] or storable(parameters.get("q", "")).strip()[:TEXT_LENGTH]
    values["status"] = values["status"] if values["status"] in STATUSES else ""
    values["proof"] = values["proof"] if values["proof"] in STATES else ""
    values["actor"] = values["actor"] if values["actor"] in EXPORT_ACTORS else ""
    values["outcome"] = values["outcome"] if values["outcome"] in OUTCOMES else ""
    values["sort"] = values["sort"] if values["sort"] in ORDERS else NEWEST
    values["order"] = values["order"] if values["order"] in ("asc", "desc") else "desc"
    for name in ("since", "until"):
        values[name] = values[name] if _day(values[name]) else ""
    return Filter(**values)


def exact_filter(parameters) -> Filter:
    """As `read_filter`, for who changes all that is found: raises InputError for what makes no sense, as more would be
    found without it."""
    sought = replace(read_filter(parameters), after="")
    for name, accepted in asdict(sought).items():
        if name != "after" and storable(parameters.get(name, "")).strip() not in ("", accepted):
            raise InputError(ErrorText("field %(name)s: nothing is found by this", name=name))
    return sought


def matching_ids(db: Database, sought: Filter, project: str = MAIN) -> list[str]:
    """The ids of all of a project's demonstrations that are sought, in their order; raises InputError for an expression
    that is none."""
    with db.reading() as session:
        try:
            conditions = _conditions(session, sought, project)
            query = select(Demonstration.id).order_by(Demonstration.id)
            return [] if conditions is None else list(session.scalars(query.where(*conditions.all)))
        except DataError:
            raise InputError(UNKNOWN_EXPRESSION) from None


found_ids = matching_ids  # its name before 0.3


def listing(db: Database, sought: Filter | None = None, project: str = MAIN,
            viewer: Account | None = None, page_size: int | None = None) -> Page:
    """One page of a project's demonstrations that are sought, without those that `viewer` may not see. `page_size`:
    None for the usual one. Raises InputError for an `after` that this list did not make."""
    sought = sought or Filter()
    key = _read_key(sought)
    with db.reading() as session:
        try:
            conditions = _conditions(session, sought, project, visibility.hidden_ids(session, viewer) if viewer
                                     else None)
        except InputError as error:  # it may be half typed
            return Page([], 0, filter=sought, problem=str(error))
        except DataError:  # PostgreSQL has expressions of its own
            return Page([], 0, filter=sought, problem=UNKNOWN_EXPRESSION)
        if conditions is None:
            return Page([], 0, filter=sought)
        rows, before, beyond = _rows(session, sought, conditions.all, key, page_size or PAGE_SIZE)
        if key and sought.needs_facets:
            total = None
        elif not key and not beyond:
            total = len(rows)
        else:
            total = _count(session, sought, conditions)
        beginnings = conditions.texts.beginnings if conditions.texts else ()
        matches = matches_of(session, (row.id for row in rows), beginnings) if beginnings else {}
    return Page(rows, total, _key(sought, rows[-1], "after") if rows and beyond else "",
                _key(sought, rows[0], "before") if rows and before else "", sought, matches=matches)


def sites(db: Database, project: str = MAIN) -> list[str]:
    """The sites of a project; looked for again when something was imported since this process did."""
    with db.reading() as session:
        newest = session.scalar(select(func.max(Demonstration.imported_at)).where(Demonstration.project == project))
        cached = _SITES.setdefault(db.engine, {})
        known = cached.get(project)
        if known is None or known[0] != newest:
            cached[project] = known = newest, _sites(session, project)
    return known[1]


_SITES: WeakKeyDictionary[Engine, dict[str, tuple[datetime | None, list[str]]]] = WeakKeyDictionary()


def _sites(session: Session, project: str) -> list[str]:
    """Each found by one step through the index, however many demonstrations it has."""
    in_project = Demonstration.project == project
    first = select(func.min(Demonstration.site).label("site")).where(in_project).cte("found", recursive=True)
    following = select(func.min(Demonstration.site)).where(in_project,
                                                           Demonstration.site > first.c.site).scalar_subquery()
    site_steps = first.union_all(select(following).where(first.c.site.is_not(None)))
    rows = session.scalars(select(site_steps.c.site).where(site_steps.c.site.is_not(None)).limit(SITES_LIMIT)).all()
    return [site for site in rows if site]


@dataclass(frozen=True)
class _Conditions:
    """What rows must fulfil: `columns` of their own, `facets` (kind, value), and `texts`.

    `few`: ids of the few that fulfil one of these, `settled`; None when all are met often. `many`: it is known already
    that more fulfil all than are counted.
    """

    columns: list[ColumnElement[bool]]
    facets: list[tuple[str, str]]
    texts: SearchQuery | None
    dialect: str
    several: bool  # projects: then the columns leave out most of what has a facet or a text
    few: set[str] | None = None
    settled: tuple[str, str] | SearchQuery | None = None
    many: bool = False

    def having(self, criterion: "tuple[str, str] | SearchQuery") -> Select:
        """Ids of what has a facet or fits the texts, found by its own index."""
        if isinstance(criterion, SearchQuery):
            column, own = DemonstrationText.demonstration_id, [criterion.in_all(self.dialect)]
        else:
            column, own = Facet.demonstration_id, _is(Facet, *criterion)
        # First the columns, for what they say is known sooner than whether a pattern fits.
        inside = [column.in_(select(Demonstration.id).where(*self.columns))] if self.several else []
        return select(column).where(*inside, *own)

    @property
    def all(self) -> list[ColumnElement[bool]]:
        """As conditions on the table of demonstrations."""
        rare_ids = [] if self.few is None else [Demonstration.id.in_(self.few)]
        return [*self.columns, *rare_ids, *self.beside(Demonstration.id, self.settled)]

    def beside(self, demonstration_id: ColumnElement | InstrumentedAttribute, but) -> list[ColumnElement[bool]]:
        """Facets and texts but one, looked up for each demonstration that is met on the way.

        PostgreSQL would turn EXISTS into a join of all that have the facet, sorted; the LIMIT keeps it from that.
        """
        facet, text = aliased(Facet), aliased(DemonstrationText)
        lookups = [select(literal(1)).where(facet.demonstration_id == demonstration_id, *_is(facet, *facet_value))
                   for facet_value in self.facets if facet_value != but]
        if self.texts and self.texts != but:
            lookups.append(select(literal(1)).where(text.demonstration_id == demonstration_id,
                                                    self.texts.fits(text, self.dialect)))
        return [lookup.limit(1).correlate_except(facet, text).scalar_subquery().is_not(None) for lookup in lookups]


def _conditions(session: Session, sought: Filter, project: str,
                hidden: list[str] | Select[str] | None = None) -> _Conditions | None:
    """What rows must fulfil; None when it is known already that none does."""
    columns: list[ColumnElement[bool]] = [Demonstration.project == project]
    if hidden is not None:
        columns.append(Demonstration.id.not_in(hidden))
    for name in ("status", "site", "proof"):
        if value := getattr(sought, name):
            columns.append(getattr(Demonstration, name) == value)
    if sought.actor:
        columns.append(func.coalesce(Demonstration.actor, UNKNOWN_ACTOR) == sought.actor)
    if sought.outcome:
        columns.append(func.coalesce(Demonstration.outcome, UNDECIDED) == sought.outcome)
    if sought.assigned:
        columns.append(Demonstration.assigned_to == sought.assigned)
    if since := _day(sought.since):
        columns.append(Demonstration.recorded_at >= since)
    if until := _day(sought.until):
        columns.append(Demonstration.recorded_at < until + timedelta(days=1))
    facets = [(name, getattr(sought, name)) for name in ("intent", "check", "person", "label") if getattr(sought, name)]
    texts, dialect = sought_texts(sought.search), session.get_bind().dialect.name
    several = len(session.scalars(select(Project.id).limit(2)).all()) > 1
    conditions = _Conditions(columns, facets, texts, dialect, several)
    rare_ids, settled = None, None
    sought_by: list[tuple[str, str] | SearchQuery] = [*facets, *([texts] if texts else [])]
    for criterion in sought_by:
        ids = session.scalars(conditions.having(criterion).limit(RARE + 1)).all()
        if not ids:
            return None
        if len(ids) <= RARE and (rare_ids is None or len(ids) < len(rare_ids)):
            rare_ids, settled = set(ids), criterion
    exact = several or len(columns) == 1  # then each was sought among what the columns leave
    return replace(conditions, few=rare_ids, settled=settled, many=exact and len(sought_by) == 1 and rare_ids is None)


def _count(session: Session, sought: Filter, conditions: _Conditions) -> int:
    """How many there are in all; with facets, no further than COUNT_LIMIT + 1."""
    if not conditions.facets and not conditions.texts:
        return session.scalar(select(func.count()).select_from(Demonstration).where(*conditions.all)) or 0
    if conditions.many:
        return COUNT_LIMIT + 1
    if conditions.few is None:  # from the facet's or the texts' own index, which is quicker than along the list's order
        first = conditions.facets[0] if conditions.facets else conditions.texts
        assert first
        column = DemonstrationText.demonstration_id if isinstance(first, SearchQuery) else Facet.demonstration_id
        query = conditions.having(first).where(*conditions.beside(column, first))
        if not conditions.several:
            inner = select(literal(1)).where(Demonstration.id == column, *conditions.columns).limit(1)
            query = query.where(inner.correlate_except(Demonstration).scalar_subquery().is_not(None))
        return len(session.scalars(query.limit(COUNT_LIMIT + 1)).all())
    return len(session.scalars(select(Demonstration.id).where(*conditions.all).limit(COUNT_LIMIT + 1)).all())


def _is(table, kind: str, value: str) -> list[ColumnElement[bool]]:
    return [table.facet == kind, table.value == value]


def _rows(session: Session, sought: Filter, conditions: list, key: tuple | None, page_size: int):
    """The page's rows, whether there are rows before them, and behind them."""
    column = getattr(Demonstration, sought.sort)
    backwards = key is not None and key[0] == "before"
    falls = (sought.order == "desc") != backwards
    ordering = [column.desc(), Demonstration.id.desc()] if falls else [column.asc(), Demonstration.id.asc()]
    query = select(Demonstration).where(*conditions)
    if key:
        _, value, last_id = key
        query = query.where(or_(column < value, and_(column == value, Demonstration.id < last_id)) if falls else
                            or_(column > value, and_(column == value, Demonstration.id > last_id)))
        query = query.where(column <= value if falls else column >= value)  # where the index is entered
    page_rows = session.scalars(query.order_by(*ordering).limit(page_size + 1)).all()
    more, rows = len(page_rows) > page_size, list(page_rows[:page_size])
    if backwards:
        return rows[::-1], more, True
    return rows, key is not None, more


def _key(sought: Filter, row: Demonstration, side: str) -> str:
    value = getattr(row, sought.sort)
    shown = value.isoformat() if isinstance(value, datetime) else value
    return base64.urlsafe_b64encode(json.dumps([side, sought.sort, shown, row.id]).encode()).decode().rstrip("=")


def _read_key(sought: Filter) -> tuple | None:
    if not sought.after:
        return None
    try:
        padded = sought.after + "=" * (-len(sought.after) % 4)
        side, sort, value, last_id = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        timed = sort in ("imported_at", "changed_at", "recorded_at")
        if sort != sought.sort or side not in ("after", "before") or not isinstance(last_id, str) \
                or isinstance(value, datetime) != timed or not (timed or type(value) is int) \
                or (timed and value.tzinfo is None) or (not timed and abs(value) >= 1 << 31):
            raise ValueError
        return side, value, storable(last_id)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InputError(ErrorText("field after: not a page of this list; start with the first")) from None


def _day(text: str) -> datetime | None:
    """The start of a day where the server stands, from YYYY-MM-DD."""
    try:
        day = datetime.combine(date.fromisoformat(text), time()).astimezone()
        return day.astimezone(UTC) if 1 < day.year < 9999 else None
    except (ValueError, OverflowError):
        return None
