"""Export: demonstrations in, a data set out, in one of several formats; atomic and deterministic."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from pipeline import extras, plugins
from pipeline.export.destinations.destination import Destination
from pipeline.export.destinations.folder import Folder
from pipeline.export.formats import (
    adp,
    agentnet,
    atif,
    chat,
    label_studio,
    mind2web,
    multimodal_mind2web,
    parquet,
    trajectories,
    webdataset,
    weblinx,
)
from pipeline.export.formats.script import playwright_script
from pipeline.export.grammars.table import GRAMMARS
from pipeline.plugins import Plugin
from pipeline.privacy.finding import KINDS, NAME_KINDS
from schemas import InputError

from . import releases
from .assigning import splits_of, with_splits
from .ordering import in_order
from .plugged import find_format, named
from .running import FAULTS, Format, run
from .selection import Selection, select
from .sharding import ShardedFiles
from .source import (
    LeftOut,
    Options,
    Source,
    Summary,
    Tally,
    count_demonstrations,
    leave_out_dropped,
    remove_reports,
    secret_digests_of,
)
from .splits import Rule
from .states import ENCODINGS

FORMATS: dict[str, Format] = {
    "weblinx": Format(weblinx.samples, weblinx.Writer),
    "mind2web": Format(mind2web.samples, mind2web.Writer),
    "multimodal-mind2web": Format(multimodal_mind2web.samples, multimodal_mind2web.Writer),
    "webdataset": Format(webdataset.samples, webdataset.Writer),
    "parquet": Format(parquet.samples, parquet.Writer),
    "chat": Format(chat.samples, chat.Writer),
    "playwright": Format(playwright_script.samples, playwright_script.Writer),
    "trajectories": Format(trajectories.samples, trajectories.Writer),
    "label-studio": Format(label_studio.samples, label_studio.Writer),
    "atif": Format(atif.samples, atif.Writer),
    "adp": Format(adp.samples, adp.Writer),
    "agentnet": Format(agentnet.samples, agentnet.Writer),
}
WITH_GRAMMAR = ("chat", "trajectories")


def format_names() -> list[str]:
    """Names of all formats, those of plug-ins last; imports no plug-in."""
    return [*FORMATS, *plugins.names(plugins.FORMATS, FORMATS)]


def export(sources: Iterable[Source], destination: Path | str, format: str,
           progress: Callable[[str], None] | None = None, *, rule: Rule | None = None,
           jobs: int | None = None, scheduler: str | None = None, background: bool = False,
           endpoint_url: str | None = None, damaged: list[LeftOut] | None = None, selection: Selection | None = None,
           not_selected: Counter[str] | None = None, properties: Mapping[str, Mapping[str, str]] | None = None,
           release: str | None = None, new_splits: bool = False, **options: Any) -> Summary:
    """Write a data set into a folder or to `s3://bucket/prefix`, streaming: a demonstration at a time.

    `format` is one of `format_names()`; `progress` is called with each demonstration's id when it is written; `rule`
    gives the splits (without it all is train); `jobs` is the number of processes with limits that parse what was
    recorded, as the command and the review app do, in the `background` with low priority; `scheduler` the address of a
    Dask cluster whose workers have such processes; without either, this process does it. `endpoint_url` is the address
    of an S3 service other than Amazon's; `options` are the fields of Options, of which `told` is made of `sources` if
    they are a sequence. A folder must be absent, empty or an earlier export, which is then replaced in one step at the
    end. Demonstrations that cannot be read are left out and noted in `damaged`, which whoever makes the sources may add
    to meanwhile; without it, the first one raises. `selection`: which of them, and which turns; `not_selected` counts
    the others, and may hold what whoever makes the sources left out. `properties`: status, actor and outcome of all
    demonstrations that there are, by id; the manifest counts them. `release`: the name of a release, which is written
    below the destination and follows the last one there; demonstrations keep the split that they have there, unless
    `new_splits` asks for those of the rule.
    Raises InputError for a wrong destination, format or option, no demonstrations, or two of one name.
    """
    plugin, made_by = _format(format)
    chosen = Options(**options)
    if isinstance(sources, Sequence):
        digests = chosen.secret_digests or secret_digests_of(source.recording for source in sources)
        chosen = replace(chosen, secret_digests=digests)
    if chosen.names:
        extras.require("names")
        chosen = replace(chosen, names_key=chosen.names_key or token_hex())
    kinds = [*KINDS, *NAME_KINDS] if chosen.names else [*KINDS]
    if unknown := sorted(chosen.allow - set(kinds)):
        raise InputError(f"--allow {unknown[0]}: unknown kind of personal data; choose from {', '.join(kinds)}")
    if chosen.screenshots not in (None, *ENCODINGS):
        raise InputError(f"--screenshots {chosen.screenshots}: choose one of {', '.join(ENCODINGS)}")
    if (chosen.candidates or chosen.records) and format != "weblinx":
        raise InputError(f"--candidates and --records require the format weblinx, not {format}")
    if chosen.scorer and not (chosen.candidates or chosen.records):
        raise InputError("--scorer requires --candidates or --records")
    if chosen.grammar is not None and format not in WITH_GRAMMAR:
        raise InputError(f"--grammar requires the format {' or '.join(WITH_GRAMMAR)}, not {format}")
    if chosen.grammar not in (None, *GRAMMARS):
        raise InputError(f"--grammar {chosen.grammar}: choose one of {', '.join(GRAMMARS)}")
    if chosen.ocr:
        extras.require("ocr")
    rule = rule or Rule()
    previous = releases.previous_release(destination, release, endpoint_url) if release else ""
    before = releases.release_location(destination, previous) if previous else None
    where = releases.release_location(destination, release) if release else destination
    with ExitStack() as open_:
        opened = open_.enter_context(open_destination(where, format, endpoint_url, before))
        open_.enter_context(named(plugin))
        opened.temporary = chosen.temporary
        opened.summary.release, opened.summary.previous = release or "", previous
        opened.summary.split_rule = rule.title
        if damaged is not None:
            opened.summary.damaged = damaged
        if isinstance(made_by.writer, type) and issubclass(made_by.writer, ShardedFiles):
            sources = in_order(sources)
        if selection is not None:
            opened.summary.selection = selection.requested()
            if not_selected is not None:
                opened.summary.not_selected = not_selected
            sources = select(sources, selection, rule, opened.summary.not_selected)
        sources = leave_out_dropped(sources, opened.summary.not_selected)
        if chosen.without_reports:
            sources = remove_reports(sources)
        released = {} if new_splits or before is None else splits_of(releases.read_export(before, endpoint_url))
        sources, leaks = with_splits(open_, sources, rule, released)
        faults = () if damaged is None else FAULTS if plugin is None else (InputError,)
        done = set[str]()

        def advance(demonstration_id: str) -> None:
            done.add(demonstration_id)
            if progress:
                progress(demonstration_id)

        run(sources, made_by, opened, chosen, jobs=jobs, scheduler=scheduler, background=background,
            progress=advance, faults=faults)
        leaks.verify()
        if properties is not None:
            done -= {left_out.id for left_out in opened.summary.damaged}
            opened.summary.counts = count_demonstrations(properties, done)
        return opened.publish()


def _format(name: str) -> tuple[Plugin | None, Format]:
    """The format of a name, with the plug-in that it is from; raises InputError when it is unknown or broken."""
    if name in FORMATS:
        plugins.shadowed(plugins.FORMATS, name)
        return None, FORMATS[name]
    if built_in := find_format(name):
        return built_in
    raise InputError(f"unknown format {name!r}; choose one of {', '.join(format_names())}")


def prepare(source: Source) -> None:
    """Make and keep, beside the recording, what an export of its turns reads: pages, boxes, pictures (webdataset's).

    What cannot be made now is left for the export to complain of.
    """
    with suppress(InputError):
        for _ in webdataset.samples(source, Options(), Tally()):
            pass


def open_destination(destination: Path | str, format: str, endpoint_url: str | None = None, before: str | None = None
                     ) -> Destination:
    """Where an export goes: `s3://…` or a folder; `before`: another export, from which files may be taken over."""
    if str(destination).startswith("s3:"):
        from pipeline.export.destinations.s3 import S3  # here, as botocore is slow to import

        return S3(str(destination), format, endpoint_url, before)
    if endpoint_url:
        raise InputError(f"{destination}: --endpoint-url requires an address of the form s3://bucket/prefix")
    return Folder(destination, format, before)
