"""How fast the review app answers with ten times WebLINX in it, and how much memory its server takes.

`python -m benchmarks.curator [--demonstrations N] [--projects N] [--seconds S] [--database sqlite|postgresql]` fills a
database with 23,000 demonstrations of 1,000,000 turns in 20 projects (a hundredth of it in one), serves it by gunicorn
with two workers, and has one client, then twenty at once, do what people do, over HTTP, without a
pause: list with a filter, search, ask for the next demonstration, open it, edit it. Ends with one line of JSON:
milliseconds (p50, p95) and MiB of the server at a hundredth of the size and at full size, after the same requests.
"""

import argparse
import http.client
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import urlencode

from tests.support.services import databases
from tests.support.services.gunicorns import Gunicorn

from .data import PASSWORD, TURNS, WORDS, fill, names_of
from .long_sessions import measure_long_sessions

WORKERS = 2
CLIENTS = (1, 20)
LIMITS = {1: 100, 20: 300}  # p95, milliseconds


class Client:
    """A person at a browser, with a connection that stays open; notes how long each answer took."""

    def __init__(self, port: int, name: str, seed: int, projects: list[str]):
        self._projects = projects
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._random = random.Random(seed)
        self._cookies: dict[str, str] = {}
        self.times: dict[str, list[float]] = defaultdict(list)
        page = self._ask("GET", "/sign-in")
        data = {"csrf_token": _csrf(page), "name": name, "password": PASSWORD}
        self._ask("POST", "/sign-in", data, expect=303)
        self._csrf = _csrf(self._ask("GET", "/projects"))
        self._at = ""
        self._connection.close()  # until all have signed in it rests, and the server would close it

    def round(self) -> None:
        """What a person does, once, in any project."""
        chance = self._random
        here = {"project": chance.choice(self._projects)}
        # Half of the lists: what is everywhere; half: what is seldom.
        query = chance.choice((
            {"status": "draft", "sort": "checks"}, {"intent": "click", "status": "submitted"},
            {"site": f"site{chance.randrange(150)}.example"}, {"check": "privacy", "sort": "turns", "order": "asc"},
            {"intent": "upload", "since": "2024-06-01", "until": "2024-09-30"},
            {"person": "val", "sort": "changed_at"}))
        self._ask("GET", f"/?{urlencode(query | here)}", kind="list")
        words = " ".join(chance.sample(WORDS, chance.choice((1, 2)))) if chance.random() < 0.7 else \
            f"demo {chance.randrange(20000)}"
        self._ask("GET", f"/?{urlencode({'search': words} | here)}", kind="search", htmx=True)
        part = chance.choice(WORDS)[1:-1] if chance.random() < 0.7 else f"{chance.randrange(20000)} site"
        self._ask("GET", f"/?{urlencode({'search': part} | here)}", kind="part", htmx=True)
        first, second = chance.sample(WORDS, 2)  # one is everywhere, one seldom, one nowhere
        pattern = chance.choice((f"/{first}|{second}/", rf"/{first} {second} \w+ {first}/", rf"/\b{first}{second}\b/"))
        self._ask("GET", f"/?{urlencode({'search': pattern} | here)}", kind="pattern", htmx=True)
        self._ask("POST", f"/next?{urlencode(here)}", {"csrf_token": self._csrf, "after": self._at},
                  kind="next", expect=303)
        self._at = self._location.rpartition("/")[2]
        page = self._ask("GET", f"/demonstrations/{self._at}", kind="review")
        for turn in chance.sample(range(TURNS - 3), 2):
            data = {"csrf_token": self._csrf, "version": re.search(r'data-version="(\d+)"', page)[1], "op": "drop",
                    "turn": f"t{turn}", "selected": f"t{turn}", "key": os.urandom(8).hex()}
            page = self._ask("POST", f"/demonstrations/{self._at}/edits", data, kind="edit", htmx=True)

    def _ask(self, method: str, address: str, data: dict | None = None, *, kind: str = "", htmx: bool = False,
             expect: int = 200) -> str:
        headers = {"Cookie": "; ".join(map("=".join, self._cookies.items()))} | ({"HX-Request": "true"} if htmx else {})
        if data is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        begun = time.perf_counter()
        self._connection.request(method, address, urlencode(data) if data is not None else None, headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if kind:
            self.times[kind].append(time.perf_counter() - begun)
        if answer.status != expect:
            raise SystemExit(f"{method} {address}: {answer.status}: {body[:300]!r}")
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        self._location = answer.headers["Location"] or ""
        return body.decode()


def measure(port: int, clients: int, seconds: float, projects: list[str]) -> dict[str, dict[str, float]]:
    """Let so many clients work at once; milliseconds by what they asked for."""
    people = [Client(port, "lea" if number == 0 else f"ann{number}", number, projects) for number in range(clients)]
    return work(people, seconds)


def work(people: list, seconds: float) -> dict[str, dict[str, float]]:
    """Let them go round and round at once; milliseconds by what they did."""
    people[0].round()  # what is loaded once is loaded
    for person in people:
        person.times.clear()
    until, failed = time.perf_counter() + seconds, list[BaseException]()

    def go(person: Any) -> None:
        try:
            while time.perf_counter() < until:
                person.round()
        except BaseException as error:  # told by the thread that waits
            failed.append(error)
    threads = [threading.Thread(target=go, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return _told({kind: [time for person in people for time in person.times[kind]] for kind in people[0].times})


def _told(seconds: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Of lists of times, in seconds: milliseconds, and how many there are."""
    found = {}
    for kind, each in seconds.items():
        times = sorted(time * 1000 for time in each)
        cuts = quantiles(times, n=20) if len(times) > 1 else times * 19
        found[kind] = {"p50": round(cuts[9], 1), "p95": round(cuts[18], 1), "requests": len(times)}
    return found


def memory(pids: list[int]) -> float:
    """MiB of the workers, what they share counted in parts."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return round(total / 1024, 1)


def run(url: str, demonstrations: int, seconds: float, clients: tuple[int, ...], projects: int, threads: int) -> dict:
    """Fill, serve, measure one database."""
    with tempfile.TemporaryDirectory(prefix="demotape-curator-") as folder:
        data = Path(folder)
        url = url or f"sqlite:///{data / 'demotape.db'}"
        begun = time.perf_counter()
        turns = fill(url, demonstrations, data, projects)
        result: dict[str, Any] = {"demonstrations": demonstrations, "projects": projects, "turns": turns,
                  "filled_s": round(time.perf_counter() - begun)}
        print(f"  {demonstrations:,} demonstrations, {turns:,} turns, filled in {result['filled_s']} s", flush=True)
        with Gunicorn(url, data, WORKERS, threads) as server:
            for count in clients:
                result[f"clients_{count}"] = found = measure(server.port, count, seconds, names_of(projects))
                for kind, times in found.items():
                    print(f"  {count:>2} clients  {kind:<7} p50 {times['p50']:>6.1f} ms  p95 {times['p95']:>6.1f} ms"
                          f"  ({times['requests']} requests)", flush=True)
            result["memory_mib"] = memory(server.pids)
            print(f"  server: {result['memory_mib']} MiB", flush=True)
    return result


def missed(result: dict) -> list[str]:
    """Which figures are above what is promised."""
    return [f"{kind} at {count} clients: {times['p95']} ms" for count, limit in LIMITS.items()
            for kind, times in result.get(f"clients_{count}", {}).items() if times["p95"] >= limit]


def _csrf(page: str) -> str:
    return re.search(r'name="csrf_token" value="([^"]+)"', page)[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demonstrations", type=int, default=23_000)
    parser.add_argument("--projects", type=int, default=20, help="among which they are shared out")
    parser.add_argument("--threads", type=int, default=4, help="of each worker")
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--turns", metavar="N,N,…", help="measure sessions of these lengths instead (long_sessions.py)")
    given = parser.parse_args()
    if given.turns:
        return measure_long_sessions([int(number) for number in given.turns.split(",")])
    sys.setswitchinterval(0.0005)  # the clients are threads: they must not wait 5 ms for each other to note the time
    results: dict[str, dict] = {}
    for database in given.database or ("sqlite", "postgresql"):
        for name, count, projects in ((f"{database}_small", max(given.demonstrations // 100, 40), 1),
                                      (database, given.demonstrations, given.projects)):
            print(f"{name}:", flush=True)
            if database == "sqlite":
                results[name] = run("", count, given.seconds, CLIENTS, projects, given.threads)
            else:
                with databases.running({}) as server:
                    results[name] = run(databases.Server(server).empty(), count, given.seconds, CLIENTS, projects,
                                        given.threads)
            results[name]["missed"] = missed(results[name])
    print(json.dumps({"benchmark": "curator", **results}))
