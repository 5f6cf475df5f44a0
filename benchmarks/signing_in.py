"""How many of a thousand wrong passwords at once are tried, and whether names that exist can be told from others.

`python -m benchmarks.signing_in [--passwords N] [--names N]`: gunicorn with two workers, on SQLite and on PostgreSQL.
Wrong passwords for one name come over real HTTP, from many addresses, and again for a name that does not exist. A try
is one that is answered 401: one that is not counted is answered 429 without a look at the password. Then known and
unknown names are asked for in turn, each once and with tries left: statuses, and the mean time with its interval of
95 %. Fails when more than ten are tried or the difference of the means is not within its interval. Ends with one line
of JSON.
"""

import argparse
import http.client
import json
import os
import random
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import NormalDist, fmean, variance
from urllib.parse import urlencode

from sqlalchemy import delete, update

from curator_web.db.database import open_database
from curator_web.db.models.core import SignInAttempts, User
from curator_web.users import add_user, set_password
from curator_web.users.sign_in_attempts import AT_ONE_NAME, FROM_ONE_ADDRESS
from tests.support.services import databases
from tests.support.services.gunicorns import Gunicorn

PASSWORD = "a long right password"
CLIENTS = 50  # at once; gunicorn's workers take them one after the other
Z = NormalDist().inv_cdf(0.975)


class Guesser:
    """Somebody who signs in from a network address of their own."""

    def __init__(self, port: int, address: str):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"X-Forwarded-For": address, "X-Forwarded-Proto": "https",
                         "Referer": "https://127.0.0.1/sign-in", "Host": "127.0.0.1"}
        page, cookie = self._ask("GET")
        self._token = re.search(r'name="csrf_token" value="([^"]+)"', page)[1]
        self._headers |= {"Cookie": cookie.partition(";")[0], "Content-Type": "application/x-www-form-urlencoded"}
        self.status = 0

    def guess(self, name: str, password: str) -> float:
        """Try a password; seconds until the answer, whose status is then `status`."""
        body = urlencode({"csrf_token": self._token, "name": name, "password": password})
        begun = time.perf_counter()
        self._ask("POST", body)
        return time.perf_counter() - begun

    def _ask(self, method: str, body: str | None = None) -> tuple[str, str]:
        self._connection.request(method, "/sign-in", body, self._headers)
        answer = self._connection.getresponse()
        text, self.status = answer.read().decode(), answer.status
        return text, answer.headers["Set-Cookie"] or ""


def storm(port: int, name: str, passwords: int) -> Counter:
    """So many wrong passwords for one name, as many at once as there are clients; statuses by how often they came."""
    guessers = [Guesser(port, f"198.51.100.{number}") for number in range(CLIENTS)]
    told: Counter = Counter()

    def work(guesser: Guesser) -> list[int]:
        found = []
        for _ in range(passwords // CLIENTS):
            guesser.guess(name, os.urandom(8).hex())
            found.append(guesser.status)
        return found
    with ThreadPoolExecutor(CLIENTS) as pool:
        for found in pool.map(work, guessers):
            told.update(found)
    return told


def compared(port: int, names: int) -> dict:
    """Known and unknown names asked for in turn, in a random order, each with tries left."""
    times: dict[str, list[float]] = {"known": [], "unknown": []}
    statuses: dict[str, Counter] = {"known": Counter(), "unknown": Counter()}
    order = [(kind, number) for number in range(names) for kind in times]
    random.Random(18).shuffle(order)
    for count, (kind, number) in enumerate(order):
        if count % (FROM_ONE_ADDRESS // 2) == 0:  # another address before this one has had its tries
            guesser = Guesser(port, f"203.0.113.{count // (FROM_ONE_ADDRESS // 2)}")
            guesser.guess("warm-up", "wrong")
        seconds = guesser.guess(f"{'person' if kind == 'known' else 'nobody'}{number}", "a wrong password")
        times[kind].append(seconds * 1000)
        statuses[kind][guesser.status] += 1
    spread = Z * (sum(variance(each) / len(each) for each in times.values())) ** 0.5
    difference = fmean(times["known"]) - fmean(times["unknown"])
    return {"statuses": {kind: dict(each) for kind, each in statuses.items()},
            "mean_ms": {kind: round(fmean(each), 2) for kind, each in times.items()},
            "difference_ms": round(difference, 2), "interval_ms": round(spread, 2)}


def run(url: str, folder: Path, passwords: int, names: int) -> dict:
    """One database; an empty URL is SQLite in the folder."""
    url = url or f"sqlite:///{folder / 'demotape.db'}"
    db = open_database(url)
    for number in range(names):
        add_user(db, f"person{number}", "annotator")
    set_password(db, "person0", PASSWORD)
    with db.writing() as session:
        session.execute(update(User).values(password_hash=session.get_one(User, "person0").password_hash))
    os.environ["DEMOTAPE_HTTPS"] = "1"  # so that each client has an address of its own
    with Gunicorn(url, folder / "data") as server:
        result = {"known": dict(storm(server.port, "person0", passwords)),
                  "unknown": dict(storm(server.port, "nobody0", passwords))}
        with db.writing() as session:
            session.execute(delete(SignInAttempts))
        result |= compared(server.port, names)
    db.close()
    return result


def missed(result: dict) -> list[str]:
    """What is not as promised."""
    found = [f"{result[kind].get(401, 0)} passwords tried for one {kind} name"
             for kind in ("known", "unknown") if result[kind].get(401, 0) > AT_ONE_NAME]
    if result["known"].keys() - {401, 429} or result["known"] != result["unknown"]:
        found.append(f"answers: {result['known']}, {result['unknown']}")
    if result["statuses"]["known"] != result["statuses"]["unknown"]:
        found.append(f"statuses: {result['statuses']}")
    if abs(result["difference_ms"]) > result["interval_ms"]:
        found.append(f"means differ by {result['difference_ms']} ms, noise is {result['interval_ms']} ms")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passwords", type=int, default=1000)
    parser.add_argument("--names", type=int, default=200, help="of each kind")
    given = parser.parse_args()
    results = {}
    for database in ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory(prefix="demotape-signing-in-") as folder:
            if database == "sqlite":
                results[database] = run("", Path(folder), given.passwords, given.names)
            else:
                with databases.running({}) as server:
                    results[database] = run(databases.Server(server).empty(), Path(folder), given.passwords,
                                            given.names)
        results[database]["missed"] = missed(results[database])
        print(f"{database}: {results[database]}", flush=True)
    print(json.dumps({"benchmark": "signing_in", **results}))
    if any(each["missed"] for each in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
