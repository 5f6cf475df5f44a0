"""A client of the review app, for scripts: what its JSON API does (described at /api/openapi.json), in Python.

    from demotape.client import Client
    client = Client("https://review.example.org", token)
    for line in client.annotations(status="submitted"):
        line["edits"].append({"edit": {"op": "set_task", "task": line["task"].strip()}})
        client.apply(line)
"""

import hashlib
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from schemas import DemotapeError, types

Annotations = dict[str, Any]
_LONGEST = 200  # characters of an answer that is no JSON


class Refused(DemotapeError):
    """The server did not do what it was asked for; `status` is the HTTP status, 0 where it did not answer."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Client:
    """The review app at `server`, for who has this token. Every method raises Refused."""

    def __init__(self, server: str, token: str, timeout: float = 60.0, project: str | None = None):
        """`timeout`: seconds that one answer may take. `project`: the one that is meant, for who is in several."""
        self._server, self._token, self._timeout = server.rstrip("/"), token, timeout
        self._project = project

    def projects(self) -> list[dict[str, Any]]:
        """The projects that you are in: id, name, and your role."""
        return self._ask("GET", "projects")

    def demonstrations(self, **sought: str) -> Iterator[dict[str, Any]]:
        """What the list has of each: id, task, site, status, version, …; `sought` are the list's filters, such as
        `status`, `search`, `site`, `sort`."""
        after = ""
        while True:
            page = self._ask("GET", f"demonstrations?{urlencode(sought | ({'after': after} if after else {}))}")
            yield from page["demonstrations"]
            if not (after := page["next"]):
                return

    def demonstration(self, name: str) -> dict[str, Any]:
        """What the list has of one."""
        return self._ask("GET", _demonstration_path(name))

    def turns(self, name: str) -> types.Demonstration:
        """One demonstration as it is now, all edits folded in."""
        return self._ask("GET", _demonstration_path(name, "turns"))

    def edits(self, name: str) -> list[dict[str, Any]]:
        """All edits ever made, in order, with who and when."""
        return self._ask("GET", _demonstration_path(name, "edits"))

    def edit(self, name: str, edit: Mapping[str, Any], version: int, key: str | None = None) -> int:
        """Make an edit (docs/format.md) on the version that it is meant for; returns the version after it. Sent again
        under its `key`, it is not made again."""
        return self._ask("POST", _demonstration_path(name, "edits"),
                         {"edit": edit, "version": version, "key": key})["version"]

    def set_status(self, name: str, status: str, version: int, reason: str = "") -> int:
        """Submit, validate, approve, send back, mark invalid or reopen; returns the version after it."""
        status_change = {"status": status, "version": version, "reason": reason}
        return self._ask("PUT", _demonstration_path(name, "status"), status_change)["version"]

    def comments(self, name: str) -> list[dict[str, Any]]:
        """All comments, each followed by its answers."""
        return self._ask("GET", _demonstration_path(name, "comments"))

    def tasks(self, **sought: str) -> Iterator[dict[str, Any]]:
        """The tasks of the project, the newest first; `sought`: `state`, `search`, `site`, `category`."""
        page = 0
        while tasks := self._ask("GET", f"tasks?{urlencode(sought | {'page': str(page := page + 1)})}")["tasks"]:
            yield from tasks

    def add_tasks(self, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Propose tasks, all or none: `text`, `url`, `category`, …; a lead's are accepted at once."""
        return self._ask("POST", "tasks", {"tasks": tasks})

    def next_task(self) -> dict[str, Any]:
        """The next task to record, which is this user's until it is recorded or given back. A recording of it tells
        `name` as `task_id` of its provenance. Raises Refused with status 404 where none is left."""
        return self._ask("POST", "tasks/next")

    def give_back(self, task_id: str, reason: str = "", unachievable: bool = False) -> None:
        """Leave a task to others; `unachievable`: it cannot be done, for this reason."""
        self._ask("POST", f"tasks/{quote(task_id, safe='')}/back", {"reason": reason, "unachievable": unachievable})

    def comment(self, name: str, text: str, turn: str | None = None, kind: str = "comment",
                answers: int | None = None) -> dict[str, Any]:
        """Say something about a demonstration or a turn, ask who recorded it (`question`), or answer a comment."""
        return self._ask("POST", _demonstration_path(name, "comments"),
                         {"text": text, "turn": turn, "kind": kind, "answers": answers})

    def notifications(self, unread: bool = False) -> list[dict[str, Any]]:
        """What you are told of in all your projects, the unread first: `kind`, `by`, `demonstration`, `task`, …"""
        return self._ask("GET", f"notifications?{urlencode({'unread': str(unread).lower()})}")

    def mark_read(self, ids: list[int] | None = None) -> int:
        """Mark notifications as read, by default all; returns how many were not."""
        return self._ask("POST", "notifications/read", {"all": True} if ids is None else {"ids": ids})["read"]

    def pairs(self) -> list[dict[str, Any]]:
        """What two people annotate, the latest first: a lead's are all; `original`, `copy`, `state`, …"""
        return self._ask("GET", "pairs")["pairs"]

    def pair(self, ids: list[str]) -> int:
        """Have demonstrations annotated by two people; returns of how many that is new; only for leads."""
        return self._ask("POST", "pairs", {"ids": ids})["paired"]

    def agreement(self) -> dict[str, Any]:
        """How far these people agree, of each intent, target, drop and label: `items`, `agreement`, `kappa`, `alpha`;
        only for leads."""
        return self._ask("GET", "agreement")

    def training(self) -> dict[str, Any]:
        """What new annotators do first, and how far they are: a lead's are all, others' themselves."""
        return self._ask("GET", "training")

    def choose_training(self, ids: list[str], training: bool = True) -> int:
        """Have settled demonstrations be training, or no more; returns of how many that is new; only for leads."""
        return self._ask("POST", "training", {"ids": ids, "training": training})["changed"]

    def judging(self) -> dict[str, Any]:
        """How far you are with saying whether tasks were done: `drawn`, `labelled`, `left`; a lead's `people`, too."""
        return self._ask("GET", "judging")

    def draw_judging(self, count: int, seed: int = 0) -> int:
        """Draw demonstrations more for people to label; returns how many there were; only for leads."""
        return self._ask("POST", "judging/sample", {"count": count, "seed": seed})["drawn"]

    def next_to_judge(self, after: str | None = None) -> dict[str, Any] | None:
        """What you label next, as a judge sees it: `id`, `task`, `answer`, `screenshots`; None when all is done.
        `after`: the one that you leave for later."""
        return self._ask("GET", "judging/next" + (f"?{urlencode({'after': after})}" if after else ""))["demonstration"]

    def judge(self, name: str, done: bool) -> None:
        """Say whether the task was done, or change what you said last."""
        self._ask("PUT", f"judging/labels/{quote(name, safe='')}", {"done": done})

    def send_verdicts(self, lines: list[dict[str, Any]]) -> dict[str, int]:
        """Give the lines that `demotape judge --out` wrote: how many are `new`, `replaced`, of `strangers`; only for
        leads."""
        return self._ask("POST", "judging/verdicts", {"verdicts": lines})

    def judged(self) -> dict[str, Any]:
        """Judges held against people, on what you may see: `judges` with κ, `labels`, `disagreements`; only for
        leads."""
        return self._ask("GET", "judging/results")

    def open_room(self, task: str = "", instructor: str | None = None, pictures: bool = True) -> dict[str, Any]:
        """Open a live room whose navigator you are: `url`, and `link`, which makes whoever follows it the instructor,
        once; None where a member is the `instructor`. `pictures`: whether the instructor sees the screen."""
        return self._ask("POST", "rooms", {"task": task, "instructor": instructor, "pictures": pictures})

    def room(self, room_id: str) -> dict[str, Any]:
        """A live room that you may enter: `url`, `task`, `pictures`, `instructor`."""
        return self._ask("GET", f"rooms/{quote(room_id, safe='')}")

    def jobs(self) -> list[dict[str, Any]]:
        """The latest jobs that failed or wait for something that is away; only for leads."""
        return self._ask("GET", "jobs")["jobs"]

    def again(self, job_id: int) -> dict[str, Any]:
        """Try a job again that failed."""
        return self._ask("POST", f"jobs/{job_id}/again")

    def withdraw(self, name: str) -> None:
        """Withdraw what you recorded, while it is a draft or submitted; a lead can restore it."""
        self._ask("POST", _demonstration_path(name, "withdrawal"))

    def assign(self, ids: list[str], to: str | None) -> dict[str, Any]:
        """Give demonstrations to a user, with None to nobody: `changed`, and which could not be; only for leads."""
        return self._ask("POST", "assignments", {"ids": ids, "to": to})

    def set_statuses(self, ids: list[str], status: str, reason: str = "") -> dict[str, Any]:
        """As `set_status` for several, each by itself: `changed`, and which could not be."""
        return self._ask("POST", "statuses", {"ids": ids, "status": status, "reason": reason})

    def delete(self, ids: list[str]) -> str:
        """Delete demonstrations; returns what `restore` takes; only for leads."""
        return self._ask("POST", "deletions", {"ids": ids})["batch"]

    def restore(self, batch: str) -> int:
        """Restore what was deleted at once; returns how many came back."""
        return self._ask("POST", f"deletions/{quote(batch, safe='')}/restore")["restored"]

    def export(self, **options: Any) -> dict[str, Any]:
        """Begin an export with these options, such as `format`, `status`, `preset`; returns its job; only for leads."""
        return self._ask("POST", "exports", options)

    def job(self, job_id: int) -> dict[str, Any]:
        """How far a job is: `state`, `done`, `total`, `note`, …; only for leads."""
        return self._ask("GET", f"jobs/{job_id}")

    def presets(self) -> list[dict[str, Any]]:
        """The export presets of the project; only for its leads."""
        return self._ask("GET", "export-presets")

    def settings(self, project: str) -> dict[str, Any]:
        """What the leads of a project set for it: `unused_intents`, `unused_checks`, `review_steps`, `splits`, …"""
        return self._ask("GET", f"projects/{quote(project, safe='')}/settings")

    def change_settings(self, project: str, **settings: Any) -> dict[str, Any]:
        """Set what is given for a project, and leave the rest; only for its leads."""
        return self._ask("PUT", f"projects/{quote(project, safe='')}/settings", settings)

    def webhooks(self) -> list[dict[str, Any]]:
        """The webhooks of the project; only for its leads."""
        return self._ask("GET", "webhooks")

    def add_webhook(self, url: str, events: list[str]) -> dict[str, Any]:
        """Have events of the project posted to an address; `secret` of the answer is told this once."""
        return self._ask("POST", "webhooks", {"url": url, "events": events})

    def remove_webhook(self, webhook_id: int) -> None:
        """Remove a webhook and its deliveries."""
        self._ask("DELETE", f"webhooks/{webhook_id}")

    def deliveries(self, webhook_id: int) -> list[dict[str, Any]]:
        """What was sent to a webhook or waits, the latest first."""
        return self._ask("GET", f"webhooks/{webhook_id}/deliveries")

    def next(self, after: str | None = None) -> dict[str, Any] | None:
        """The next demonstration to work on, which is this user's for half an hour; None when nothing is waiting."""
        return self._ask("POST", "next", {"after": after})["demonstration"]

    def annotations(self, **sought: str) -> Iterator[Annotations]:
        """What people added to each demonstration: `demonstration` (its id), `task`, `status`, `version`, `edits`,
        `comments`."""
        for row in self.demonstrations(**sought):
            name = row["id"]
            yield {"demonstration": name, "task": row["task"], "status": row["status"], "version": row["version"],
                   "edits": self.edits(name), "comments": self.comments(name)}

    def apply(self, line: Annotations) -> int:
        """Make what a script added to a demonstration's annotations; returns the version after it.

        New are edits without `number` and comments without `id`, and a `status` other than the present one (with its
        `reason`). What was applied before is not made twice. Raises Refused with status 409 where somebody has changed
        the demonstration since: read its annotations again.
        """
        name, version = line["demonstration"], line["version"]
        for index, change in enumerate(line["edits"]):
            if "number" not in change:
                version = self.edit(name, change["edit"], version, _key(name, index, change["edit"]))
        said = {(comment["turn"], comment["text"]) for comment in self.comments(name)}
        for comment in line["comments"]:
            if "id" not in comment and (comment.get("turn"), comment["text"]) not in said:
                self.comment(name, **comment)
        if line["status"] != self.demonstration(name)["status"]:
            version = self.set_status(name, line["status"], version, line.get("reason", ""))
        return version

    def write_annotations(self, path: Path | str, **sought: str) -> int:
        """Write the annotations of demonstrations as JSONL; returns of how many."""
        count = 0
        with Path(path).open("wb") as file:
            for line in self.annotations(**sought):
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                count += 1
        return count

    def apply_annotations(self, path: Path | str) -> int:
        """Apply every line of such a file; returns how many. Raises Refused naming the line; it can be run again then.
        """
        count = 0
        for number, text in enumerate(Path(path).read_bytes().splitlines(), 1):
            try:
                self.apply(json.loads(text))
            except Refused as error:
                raise Refused(error.status, f"{path}, line {number}: {error}") from None
            except (ValueError, KeyError, TypeError) as error:
                raise Refused(0, f"{path}, line {number}: no annotations ({error!r})") from None
            count += 1
        return count

    def _ask(self, method: str, address: str, content: Any = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        if self._project:
            address += ("&" if "?" in address else "?") + urlencode({"project": self._project})
        request = urllib.request.Request(
            f"{self._server}/api/{address}", method=method, data=data,
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"})
        try:
            with _opener.open(request, timeout=self._timeout) as answer:
                content = answer.read()
                return json.loads(content) if content else None
        except urllib.error.HTTPError as error:
            raise Refused(error.code, _message(error.read(), error.reason)) from None
        except (OSError, ValueError) as error:
            raise Refused(0, f"{self._server}: no answer ({error})") from None


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects, and sends the token to no other server: to the same one only, or to its HTTPS."""

    def redirect_request(self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any,
                         newurl: str) -> urllib.request.Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request and not _may_have_token(req.full_url, request.full_url):
            request.remove_header("Authorization")
        return request


_opener = urllib.request.build_opener(_SameHost)


def _may_have_token(before: str, after: str) -> bool:
    old, new = urlsplit(before), urlsplit(after)
    if (old.scheme, old.netloc) == (new.scheme, new.netloc):
        return True
    return (old.scheme, new.scheme) == ("http", "https") and old.hostname == new.hostname and (
        (old.port or 80, new.port or 443) == (80, 443))


def _demonstration_path(name: str, part: str = "") -> str:
    return f"demonstrations/{quote(name, safe='')}{'/' * bool(part)}{part}"


def _key(name: str, index: int, edit: Mapping[str, Any]) -> str:
    """The same for the same new edit at the same place."""
    serialized = json.dumps([name, index, edit], sort_keys=True)
    return hashlib.sha256(serialized.encode()).hexdigest()[:40]


def _message(answer: bytes, reason: str) -> str:
    try:
        body = json.loads(answer)
        return f"{body['message']} {body['errors']}" if body.get("errors") else str(body["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return reason or answer[:_LONGEST].decode(errors="replace")
