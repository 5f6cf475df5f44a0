"""The list: what finds what, in which order, page by page, in both databases."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select, text, update

from curator_web import create_app
from curator_web.db.database import migrate, open_database
from curator_web.db.models.core import Demonstration, Facet, SecondReview, Upload
from curator_web.db.models.job_models import Job
from curator_web.db.patterns import compiled
from curator_web.demonstrations.library import search_index
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import listing
from curator_web.demonstrations.listing.listing import Filter, read_filter, sites
from curator_web.errors import InputError
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account, projects
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit

pytestmark = pytest.mark.postgresql

FIRST = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def db(db_url):
    db = open_database(db_url)
    yield db
    db.close()


@pytest.fixture
def many(db):
    """120 demonstrations made directly; number 0 is the oldest."""
    with db.writing() as session:
        for number in range(120):
            time = FIRST + timedelta(days=number // 2)  # two of each order's key
            name = f"d{number:03}"
            session.add(Demonstration(
                id=name, recording=name, task=f"Task {number} émigré", site=f"s{number % 7}.example",
                status=("draft", "submitted")[number % 2], version=1, turns=number % 10, dropped=0, edited=0,
                checks=number % 3, recorded_at=time, imported_at=time, changed_at=time))
            session.flush()
            search_index.store_text(session, name, f"s{number % 7}.example", f"Task {number} émigré")
            for facet, value in (("intent", "click"), ("intent", ("hover", "drag", "copy")[number % 3])):
                session.add(Facet(facet=facet, value=value, demonstration_id=name, count=1))
    return db


def walk(db, sought: Filter) -> list[list[str]]:
    """The ids of every page, forwards; and going back leads over the same pages."""
    pages, page = [], listing.listing(db, sought)
    trail = [page]
    while page.next:
        page = listing.listing(db, Filter(**(sought.__dict__ | {"after": page.next})))
        trail.append(page)
    pages = [[row.id for row in page.rows] for page in trail]
    for number in range(len(trail) - 1, 0, -1):
        back = listing.listing(db, Filter(**(sought.__dict__ | {"after": trail[number].previous})))
        assert [row.id for row in back.rows] == pages[number - 1]
    assert not trail[0].previous
    return pages


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["imported_at", "turns", "checks", "recorded_at"])
@pytest.mark.parametrize("facets", [{}, {"intent": "click"}, {"status": "draft"}, {"search": "tas"}])
def test_every_order_is_walked_page_by_page_without_gap_or_double(many, sort, order, facets):
    pages = walk(many, Filter(sort=sort, order=order, **facets))
    with many.reading() as session:
        rows = session.query(Demonstration).all()
    expected = sorted((row for row in rows if row.status == facets.get("status", row.status)),
                      key=lambda row: (getattr(row, sort), row.id), reverse=order == "desc")
    assert [each for page in pages for each in page] == [row.id for row in expected]
    assert [len(page) for page in pages] == ([50, 50, 20] if "status" not in facets else [50, 10])


def test_filters_narrow_down_together(many):
    def found(**given):
        return [row.id for row in listing.listing(many, Filter(order="asc", **given)).rows]
    assert found(search="17") == ["d017", "d117"]  # in the middle, shorter than three letters
    assert found(search="117") == ["d117"]
    assert found(search="TASK Émi d017") == found(search="ask MIGRE d017") == ["d017"]  # parts, without accents
    assert found(search="s3.example 24") == ["d024"]
    assert found(search=r"/d0(17|24) .*\bémigré$/") == ["d017", "d024"]
    assert found(search="/TASK 1[67] /") == ["d016", "d017"]
    assert found(search="/zebra/") == found(search="%") == found(search='" OR "') == found(search="task_") == []
    assert len(found(search="/./")) == 50
    wrong = listing.listing(many, Filter(search="/(/"))
    assert wrong.rows == [] and "invalid regular expression" in wrong.problem
    for other in (r"/\pL+ 17/", "/(?P<name>task) 17/", "/[[:alpha:]]+ 17/", "/(x{300}){3}/", "/(?s:.)ask/"):
        page = listing.listing(many, Filter(search=other))  # what RE2 knows, PostgreSQL may not: it says so
        assert page.problem in ("", "field search: the database does not support this expression"), other
    assert found(site="s3.example", status="draft", intent="hover") == ["d024", "d066", "d108"]
    assert found(intent="upload") == found(search="zebra") == found(person="ann") == []
    assert found(since="2025-01-02", until="2025-01-02") == ["d002", "d003"]
    page = listing.listing(many, Filter(intent="click"))
    assert (page.total, page.more_than) == (120, False)
    assert sites(many) == [f"s{number}.example" for number in range(7)]


def test_runs_are_distinguished_from_sessions_of_people(many):
    with many.writing() as session:
        for name, actor, outcome in (("d001", "agent", "success"), ("d002", "agent", "failure"),
                                     ("d003", "person", None)):
            session.execute(update(Demonstration).where(Demonstration.id == name).values(actor=actor, outcome=outcome))

    def ids(**sought):
        return sorted(row.id for row in listing.listing(many, read_filter(sought)).rows)

    assert ids(actor="agent") == ["d001", "d002"] and ids(actor="person") == ["d003"]
    assert ids(actor="agent", outcome="success") == ["d001"] and ids(outcome="failure") == ["d002"]
    assert listing.listing(many, read_filter({"actor": "unknown", "outcome": "undecided"})).total == 117


@pytest.mark.parametrize("rare", [16, 40, 400])
@pytest.mark.parametrize("project", ["main", "other"])
def test_each_project_has_its_own_however_often_something_is_met(many, monkeypatch, project, rare):
    """What is found and counted, by every way that it is looked for, is what is there."""
    monkeypatch.setattr(listing, "RARE", rare)
    monkeypatch.setattr(listing, "COUNT_LIMIT", 15)
    monkeypatch.setattr(listing, "PAGE_SIZE", 5)
    if project == "other":  # every tenth is in it
        projects.add(many, "other", "Other")
        with many.writing() as session:
            session.execute(update(Demonstration).where(Demonstration.id.like("d__0")).values(project="other"))
    with many.reading() as session:
        rows = session.query(Demonstration).where(Demonstration.project == project).all()
        hover = set(session.scalars(select(Facet.demonstration_id).where(Facet.value == "hover")))
    for seeks, fits in (({"intent": "click"}, lambda row: True), ({"intent": "hover"}, lambda row: row.id in hover),
                        ({"search": "task"}, lambda row: True),
                        ({"search": "/task [0-4]/"}, lambda row: row.task < "Task 5"),
                        ({"search": "/^d/", "intent": "hover"}, lambda row: row.id in hover), ({}, lambda row: True)):
        for status in ("", "draft"):
            page = listing.listing(many, Filter(status=status, **seeks), project)
            expected = [row.id for row in rows if fits(row) and status in ("", row.status)]
            assert {row.id for row in page.rows} <= set(expected) and len(page.rows) == min(5, len(expected))
            assert page.total == (len(expected) if not seeks else min(16, len(expected))), (seeks, status)
    assert listing.sites(many, project) == sorted({row.site for row in rows})


def test_an_address_that_makes_no_sense_shows_the_list(many):
    sought = read_filter({"status": "melted", "sort": "password", "order": "up", "since": "yesterday", "more": "1"})
    assert sought == Filter()
    assert sought.parameters(status="draft") == {"status": "draft"}
    for after in ("x", "e30", "WyJhZnRlciIsICJ0dXJucyIsIDEsICJ4Il0", "\ud83d", "é", "Ww"):
        with pytest.raises(InputError, match="field after"):
            listing.listing(many, Filter(after=after))


def test_the_page_filters_sorts_and_turns_pages_by_its_address(db_url, tmp_path, many):
    client = create_app(db_url, tmp_path / "data").test_client()
    page = client.get("/?status=draft&sort=turns&order=asc").text
    assert 'aria-sort="ascending"' in page and "60 demonstrations found" in page
    assert "sort=turns" in page and "after=" in page
    part = client.get("/?search=17", headers={"HX-Request": "true"}).text
    assert part.startswith("<section") and "d017" in part and "<html" not in part
    assert client.get("/?after=nonsense").status_code == 400


def test_person_and_check_are_found_after_an_edit(db, tmp_path):
    store = RecordingStore(tmp_path / "data")
    import_recording(db, store, make_recording(tmp_path))
    assert [row.id for row in listing.listing(db, Filter(check="pointer_outside")).rows] == ["rec-1"]
    edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1, Account("ann", "annotator"))
    assert listing.listing(db, Filter(check="pointer_outside")).rows == []
    assert [row.id for row in listing.listing(db, Filter(person="ann", intent="submit")).rows] == ["rec-1"]


def test_what_an_older_database_holds_is_found_after_its_migration(empty_url, tmp_path):
    path = make_recording(tmp_path)
    content = json.loads((path / "demonstration.json").read_text())
    engine = create_engine(empty_url)
    with engine.begin() as connection:
        migrate(connection, "0002")
        connection.execute(text(
            "INSERT INTO demonstrations VALUES ('rec-1', 'rec-1', :task, 'air.example', 'draft', 2, 6, 1, 0, 0, :now, "
            ":now, :now)"), {"task": content["task"], "now": "2025-01-01 00:00:00"})
        connection.execute(text("INSERT INTO base_turns VALUES ('rec-1', :content)"), {"content": json.dumps(content)})
        connection.execute(text("INSERT INTO edits VALUES ('rec-1', 1, :content, 'ann', :now)"), {
            "content": json.dumps({"op": "drop", "turn": "t3"}), "now": "2025-01-01 00:00:00"})
    engine.dispose()
    db = open_database(empty_url)
    for sought in (Filter(search="seattle"), Filter(person="ann"), Filter(intent="submit")):
        assert [row.id for row in listing.listing(db, sought).rows] == ["rec-1"], sought
    assert listing.listing(db, Filter(intent="click")).rows == []  # that turn was dropped
    assert edit(db, "rec-1", {"op": "undo"}, 2, Account("ann", "annotator")).version == 3
    db.close()


def test_packages_on_their_way_and_second_reviews_come_along_from_an_older_version(empty_url, tmp_path):
    content = json.loads((make_recording(tmp_path) / "demonstration.json").read_text())
    engine = create_engine(empty_url)
    with engine.begin() as connection:
        migrate(connection, "0003")
        insert = {"users": "'ada', 'annotator', 'x', :now, NULL",
                  "demonstrations": "'rec-1', 'rec-1', 'x', '', 'validated', 2, 6, 1, 0, 0, :now, :now, :now, NULL, "
                                    "NULL, NULL, NULL, 'ann', 'val', NULL, NULL, 0, 0",
                  "base_turns": "'rec-1', :content", "edits": "'rec-1', 1, :edit, 'val', :now, NULL, NULL"}
        given = {"now": "2025-01-01 00:00:00", "content": json.dumps(content),
                 "edit": json.dumps({"op": "drop", "turn": "t3"})}
        for table, values in insert.items():
            names = {name for name in given if f":{name}" in values}
            connection.execute(text(f"INSERT INTO {table} VALUES ({values})"), {name: given[name] for name in names})
        for number, status, edits in ((1, "submitted", 0), (2, "validated", 1)):
            connection.execute(text("INSERT INTO status_changes VALUES ('rec-1', :n, :s, '', :w, :now, :e)"), {
                "n": number, "s": status, "w": "ann" if edits == 0 else "val", "now": given["now"], "e": edits})
        connection.execute(text("INSERT INTO second_reviews VALUES ('rec-1', 2, 'ann', 'val', :now, 6, 1.0, 0.25)"), {
            "now": given["now"]})
        connection.execute(text("INSERT INTO uploads (id, who, size, chunk_size, digests, state, begun_at) VALUES "
                                "('pack-1', 'ada', 1, 1, '[\"x\"]', 'processing', :now)"), {"now": given["now"]})
        connection.execute(text("INSERT INTO jobs (kind, who, state, arguments, done, note, result, tries, made_at) "
                                "VALUES ('import', 'ada', 'queued', '{\"file\": \"dropped-1.zip\"}', 0, '', '{}', 0, "
                                ":now)"), {"now": given["now"]})
    engine.dispose()
    db = open_database(empty_url)
    with db.reading() as session:
        found = session.get_one(SecondReview, ("rec-1", 2))
        assert not found.unchanged  # a turn was dropped
        jobs = session.scalars(select(Job).where(Job.kind == "import").order_by(Job.id)).all()
        assert [job.arguments["file"] for job in jobs] == ["uploads/dropped-1.zip", "uploads/pack-1.zip"]
        assert session.get_one(Upload, "pack-1").job == jobs[1].id
    db.close()


@pytest.mark.parametrize("pattern, needed", [
    ("flight", [["flight"]]), ("oslo|bergen", [["oslo"], ["bergen"]]), ("a|bergen", [[], ["bergen"]]),
    (r"book \w+ flight", [["book ", " flight"]]), ("flights?", [["flight"]]), ("fli(gh|x)ts", [["fli"]]),
    ("abc+def", [["abc", "def"]]), ("abcd*ef", [["abc"]]), ("abcd{0}efg", [["abc", "efg"]]), ("Émigré$", [["emigre"]]),
    (r"\bcheap\b", [["cheap"]]), ("x[a|b]yes", [["yes"]]), ("(one|two)", [[]]), (r"\x61bcd", [[]]), (r"\pLabc", [[]]),
    ("((abc)def)?ghi", [["ghi"]]), ("(abc)*xyz", [["xyz"]]), (r"a\|bcd|efgh", [["bcd"], ["efgh"]]),
    ("abc.?def", [["abc", "def"]]), ("abc(?i){0}", [[]]),
    (r"\(abc\)", [["abc"]]), ("[)]abc", [["abc"]]), (r"[\]|x]abc", [["abc"]]), ("abc|", [["abc"], []]),
])
def test_what_a_pattern_needs_stands_in_all_that_it_matches(pattern, needed):
    assert search_index.needed_texts(pattern) == needed


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([
    "a", "bc", "abc", "|", "(", ")", "[", "]", "?", "*", "+", ".", "{0}", "{1,2}", "^", "$", r"\w", r"\|", r"\(", "(?:",
    "[^", "-"]), min_size=1, max_size=8).map("".join),
       st.text("abc |()", max_size=9))
def test_no_match_lacks_what_its_pattern_needs(pattern, searched):
    try:
        found = compiled(pattern).search(searched)
    except InputError:
        return
    assert not found or any(all(each in searched for each in every) for every in search_index.needed_texts(pattern))
