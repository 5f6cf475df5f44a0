"""The command that asks models to judge recordings, and compares their verdicts with people's."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas import DemotapeError, InputError, limits
from schemas.addresses import split_address
from schemas.files import dump_line, read_named, reason, write_atomically

from . import summary
from .terminal import PATH, complain, console, errors, print_line, printable, progress

if TYPE_CHECKING:
    from pipeline.judging.model_endpoint import ModelSettings
    from pipeline.judging.model_judge import Judgement
    from pipeline.judging.trajectory import Trajectory

KEY = "DEMOTAPE_MODEL_KEY"
_MAX_REASON_CHARS = 160  # characters of a reason in a line


@dataclass(frozen=True)
class _JudgingRun:
    """What came of asking all judges: their judgements in order, how often each failed, and recordings that could not
    be judged at all."""

    judgements: "list[Judgement]"
    failed: Counter[str]
    unread: list[DemotapeError]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--model", "models", multiple=True, metavar="NAME=URL",
              help=("Judge: the name of a model and its OpenAI-compatible endpoint; repeatable.  [default: "
                    "DEMOTAPE_MODEL at DEMOTAPE_MODEL_URL]"))
@click.option("--key", "keys", multiple=True, metavar="NAME=VARIABLE",
              help="Environment variable with the API key of the judge NAME; repeatable.  "
                   f"[default: {KEY}]")
@click.option("--answer", help="Final answer.  [default: the navigator's last utterance]")
@click.option("--screenshots", type=click.IntRange(1, 100), default=limits.JUDGED_SCREENSHOTS, show_default=True,
              help="Number of screenshots to send, counted from the end.")
@click.option("--timeout", type=click.FloatRange(0, 86400, min_open=True), default=120.0, show_default=True,
              metavar="SECONDS", help="Timeout of an answer, including retries.")
@click.option("--labels", type=PATH, help='Labels by people, with which the judges are compared: JSON lines {"id": '
                                          '..., "success": true or false}.')
@click.option("--cache", type=PATH, help="Folder that caches the answers; cached requests are not sent again.")
@click.option("--out", type=PATH, help="Output file of the judgements or the sample, as JSON lines.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines and tables.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Draw a sample of this size for people to "
                                                                        "label, into --out, without asking a judge.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
def judge(paths: tuple[Path, ...], models: tuple[str, ...], keys: tuple[str, ...], answer: str | None,
          screenshots: int, timeout: float, labels: Path | None, cache: Path | None, out: Path | None, as_json: bool,
          sample: int | None, seed: int) -> None:
    """Let models judge whether the tasks of the recordings at PATHS were done.

    Task, answer and screenshots of each recording are sent to the endpoints of the judges. The verdicts are printed
    and written to a file; the recordings are not changed.
    """
    paths = tuple(dict.fromkeys(paths))
    if sample is not None:
        if models or labels or answer is not None:
            raise click.UsageError("--sample cannot be combined with --model, --labels or --answer")
        if out is None:
            raise click.UsageError("pass the file of the sample with --out")
        _draw(paths, sample, seed, out)
        return
    if answer is not None and len(paths) > 1:
        raise click.UsageError("--answer requires a single recording")

    from pipeline.judging.figures import figures
    from pipeline.judging.labels import read_labels

    judges = [replace(settings, seconds=timeout) for settings in _judges(models, keys)]
    said = read_labels(labels) if labels else {}
    if out:
        _require_ours(out)
    session = _ask_judges(paths, judges, screenshots, answer, cache, quiet=as_json)
    if out:
        _write(out, b"".join(dump_line(asdict(judgement)) for judgement in session.judgements))
    judge_figures = [figures(settings.name, session.judgements, said, session.failed[settings.name])
                     for settings in judges]
    if strangers := said.keys() - {judgement.id for judgement in session.judgements}:
        errors.print(f"note: {len(strangers)} of {len(said)} labels refer to recordings that were not judged")
    if as_json:
        click.echo(json.dumps({"judgements": [asdict(judgement) for judgement in session.judgements],
                               "judges": [asdict(judge_figure) for judge_figure in judge_figures]}, indent=1))
    else:
        summary.print_judges(console, judge_figures, labels is not None)
    _end(session, len(paths))


def _ask_judges(paths: tuple[Path, ...], judges: "list[ModelSettings]", screenshots: int, answer: str | None,
                cache: Path | None, *, quiet: bool) -> _JudgingRun:
    """Ask all judges about all recordings; one that fails is told, and the rest goes on."""
    session = _JudgingRun([], Counter(), [])
    with progress("Judging", len(paths) * len(judges)) as step:
        for path, read in _trajectories(paths, screenshots, answer):
            if isinstance(read, DemotapeError):
                session.unread.append(read)
                if len(paths) > 1:
                    complain("error", read)
            for settings in judges:
                if not isinstance(read, DemotapeError):
                    _ask_one(path, read, settings, cache, session, quiet=quiet)
                step(str(path))
    return session


def _ask_one(path: Path, trajectory: "Trajectory", settings: "ModelSettings", cache: Path | None, session: _JudgingRun,
             *,
             quiet: bool) -> None:
    from pipeline.judging.model_judge import judge_trajectory

    try:
        judgement = judge_trajectory(settings, trajectory, cache)
    except DemotapeError as error:
        session.failed[settings.name] += 1
        complain("error", f"{path}: {error}")
        return
    session.judgements.append(judgement)
    if not quiet:
        print_line(_line(path, judgement))


def _trajectories(paths: tuple[Path, ...], screenshots: int, answer: str | None
                  ) -> "Iterator[tuple[Path, Trajectory | DemotapeError]]":
    """What is to be judged of each recording, or why nothing can be."""
    from pipeline.isolation import allowance_for, run_isolated
    from pipeline.judging.trajectory import read_trajectory

    known: dict[str, Path] = {}
    for path in paths:
        read: Trajectory | DemotapeError
        try:
            read = run_isolated(allowance_for(path), str(path), read_trajectory, path, screenshots, answer)
            if (first := known.setdefault(read.id, path)) != path:
                raise InputError(f"{path}: has the same id {read.id!r} as {first}; judge them in separate runs")
        except DemotapeError as error:
            read = error
        yield path, read


def _line(path: Path, judgement: "Judgement") -> str:
    why = " ".join(judgement.reason.split())
    shown = why if len(why) <= _MAX_REASON_CHARS else f"{why[:_MAX_REASON_CHARS - 1]}…"
    return f"{path}: {judgement.judge}: {judgement.verdict}: {printable(shown)}"


def _end(session: _JudgingRun, recordings: int) -> None:
    """Raise what the command ends with, where something failed."""
    if recordings == 1 and session.unread:
        raise session.unread[0]
    parts = [f"{len(session.unread)} of {recordings} recordings could not be judged"] if session.unread else []
    parts += [f"{name} did not judge {count}" for name, count in session.failed.items()]
    if parts:
        raise DemotapeError(f"{'; '.join(parts)}; see above, the others succeeded")


def _judges(models: tuple[str, ...], keys: tuple[str, ...]) -> "list[ModelSettings]":
    """The judges that were named, else the one of the environment; raises InputError, and never tells a key."""
    from pipeline.judging.model_endpoint import model_settings

    if not models:
        from demotape.environment import model

        if keys:
            raise click.UsageError("--key requires --model")
        if (settings := model()) is None:
            raise InputError("no judge; pass --model NAME=URL, or set DEMOTAPE_MODEL_URL and DEMOTAPE_MODEL")
        return [settings]
    named = dict(_pair(option, "--model", "NAME=URL") for option in models)
    if len(named) < len(models):
        raise click.BadParameter("two judges have the same name", param_hint="--model")
    variables = dict(_pair(option, "--key", "NAME=VARIABLE") for option in keys)
    if unknown := [name for name in variables if name not in named]:
        raise click.BadParameter(f"unknown judge {unknown[0]!r}; choose the name of a --model", param_hint="--key")
    shared = _shared_key([url for name, url in named.items() if name not in variables])
    return [model_settings(url, name, _key_in(variables[name]) if name in variables else shared,
                           ("--model: URL", "--model: NAME", "--key: the key")) for name, url in named.items()]


def _key_in(variable: str) -> str:
    if variable not in os.environ:
        raise InputError(f"--key: the environment variable {variable} is not set")
    return os.environ[variable]


def _shared_key(urls: list[str]) -> str:
    """The key of the environment, for the judges at these addresses. It is one endpoint's: no other is to learn it."""
    key = os.environ.get(KEY, "")
    parts = [split_address(url) for url in (*urls, os.environ.get("DEMOTAPE_MODEL_URL", "")) if url]
    if key and urls and len({(parts_of_url.scheme, parts_of_url.netloc.lower()) for parts_of_url in parts}) > 1:
        raise InputError(f"{KEY} would be sent to another endpoint than DEMOTAPE_MODEL_URL; pass each judge's key "
                         f"with --key NAME=VARIABLE, or unset {KEY}")
    return key


def _pair(option_value: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = option_value.partition("=")
    if not name or not equals or not value:
        raise click.BadParameter(f"{option_value!r}: must be {form}", param_hint=option)
    return name, value


def _draw(paths: tuple[Path, ...], count: int, seed: int, out: Path) -> None:
    """Draw a sample for people; a file that is there stays, as it may hold labels."""
    from pipeline.judging.labels import candidate, drawn, sample_lines

    if out.exists():
        raise InputError(f"{out}: already exists and may contain labels; choose another file with --out")
    candidates = [candidate(path) for path in paths]
    twice = [name for name, times in Counter(candidate.id for candidate in candidates).items() if times > 1]
    if twice:
        raise InputError(f"several recordings have the id {twice[0]!r}; pass only one of them")
    chosen = drawn(candidates, count, seed)
    _write(out, sample_lines(chosen))
    sites = len({trajectory.site for trajectory in chosen})
    print_line(f"{out}: {len(chosen)} of {len(candidates)} recordings, of {sites} "
               f"website{'' if sites == 1 else 's'}; set success to true or false in each line")


def _require_ours(out: Path) -> None:
    """Raise InputError where something else than judgements would be replaced, such as people's labels."""
    if out.is_dir():
        raise InputError(f"{out}: is a folder; pass a file with --out")
    if out.exists() and (content := read_named(out, limits.JSON)):
        try:
            if "verdict" in json.loads(content.partition(b"\n")[0]):
                return
        except (ValueError, TypeError, RecursionError):
            pass
        raise InputError(f"{out}: already exists and is not a file of judgements; choose another file with --out")


def _write(out: Path, content: bytes) -> None:
    try:
        write_atomically(out, content)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({reason(error)})") from None
