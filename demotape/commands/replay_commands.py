"""The commands that serve a recording again and run its demonstration."""

import json
import tempfile
from functools import partial
from pathlib import Path

import click

from schemas import DemotapeError, InputError, RecordingLayout

from .terminal import PATH, complain, console, printable, progress

_MAX_NOTES = 20  # about an archive, that are printed


@click.group()
def replay() -> None:
    """Serve recordings offline and replay demonstrations."""


@replay.command("serve")
@click.argument("recording", type=PATH)
@click.option("--port", type=click.IntRange(0, 65535), default=8099, show_default=True, help="Port of the proxy on "
                                                                                             "this machine; 0 selects "
                                                                                             "a free port.")
@click.option("--cdp", type=click.IntRange(0, 65535), metavar="PORT", help="Start an environment for agents instead: "
                                                                           "a browser with CDP on this port; 0 "
                                                                           "selects a free port.")
@click.option("--api", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="With --cdp: port of the HTTP "
                                                                                      "API with goal, reset and "
                                                                                      "score.  [default: a free port]")
@click.option("--runs", type=PATH, help="With --cdp: folder for the recordings of the runs.  [default: RECORDING-runs]")
@click.option("--window", is_flag=True, help="With --cdp: show the browser's window.")
def serve(recording: Path, port: int, cdp: int | None, api: int, runs: Path | None, window: bool) -> None:
    """Start a proxy that serves the responses of a RECORDING (or a .har, .warc, .warc.gz or .wacz file).

    Configure a browser to use the proxy and to trust its certificate; the command prints both. Requests that were not
    recorded get status 504 and are listed at the end. Press Ctrl-C to stop.
    """
    import asyncio

    if cdp is not None:
        asyncio.run(_serve_environment(recording, runs or Path(f"{recording.resolve()}-runs"), cdp, api, window))
        return
    from replay.archive.reading import read_archive

    asyncio.run(_serve(read_archive(recording), port))


async def _serve(archive, port: int) -> None:
    import asyncio

    from replay.running.offline import offline_arguments
    from replay.serving.server import ReplayServer

    for note in archive.notes[:_MAX_NOTES]:
        complain("archive", note)
    if len(archive.notes) > _MAX_NOTES:
        complain("archive", f"and {len(archive.notes) - _MAX_NOTES} more")
    try:
        async with ReplayServer(archive, port) as server:
            console.print(f"Proxy: http://127.0.0.1:{server.port}")
            console.print(f"Certificate: {server.certificate}")
            console.print("Chromium: " + " ".join(map(_quoted, offline_arguments(server))))
            try:
                await asyncio.Event().wait()
            finally:
                for (method, url), count in sorted(server.missing.items()):
                    complain("not recorded", f"{method} {url}" + (f" ({count} times)" if count > 1 else ""))
    except OSError as error:
        raise InputError(f"port {port} cannot be used ({error.strerror}); choose another with --port") from None


async def _serve_environment(path: Path, runs: Path, cdp: int, api: int, window: bool) -> None:
    import asyncio

    from demotape.agents import outcome_of
    from demotape.environment_api import Served
    from recorder.reader import Recording
    from replay.agents.environment import Environment, require_free_port

    recording = Recording(path)
    outcome = outcome_of(recording) if recording.layout.outcome.exists() else None
    if api:
        require_free_port(api)
    async with Environment(recording, outcome, runs, port=cdp, headless=not window) as environment:
        await environment.reset()
        with Served(environment, asyncio.get_running_loop(), api) as served:
            console.print(f"CDP: {environment.cdp}")
            console.print(f"WebSocket: {environment.cdp_websocket}", soft_wrap=True)
            console.print(f"API: {served.address} (/openapi.json)", soft_wrap=True)
            console.print(f"Goal: {printable(environment.goal)}")
            await asyncio.Event().wait()


def _quoted(argument: str) -> str:
    name, equals, value = argument.partition("=")
    return f"{name}='{value}'" if equals and set(value) & set(" *<>-~") else argument


@replay.command("export")
@click.argument("recording", type=PATH)
@click.argument("file", type=PATH)
def export(recording: Path, file: Path) -> None:
    """Write the network of a RECORDING as a web archive: FILE ends in .wacz, .warc.gz, .warc or .har."""
    from replay.archive.har_writing import write_har
    from replay.archive.reading import read_archive

    if not file.name.endswith((".wacz", ".warc.gz", ".warc", ".har")):
        raise InputError(f"{file}: its name must end in .wacz, .warc.gz, .warc or .har")
    archive = read_archive(recording)
    if file.suffix == ".har":
        write_har(archive, file)
    else:
        from replay.archive.warc.writing import write_wacz, write_warc

        (write_wacz if file.suffix == ".wacz" else write_warc)(archive, file)
    console.print(f"{file}: {len(archive.exchanges)} requests")


@replay.command("run")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.option("--live", is_flag=True, help="Use the real network instead of the recorded responses.")
@click.option("--fast", is_flag=True, help="Take no pictures, and do each turn as soon as the page matches.")
@click.option("--window", is_flag=True, help="Show the browser's window.")
@click.option("--out", type=PATH, help="Folder for the recordings of the runs.  [default: not saved]")
@click.option("--json", "as_json", is_flag=True, help="Print the proofs as JSON.")
def run(recordings: tuple[Path, ...], live: bool, fast: bool, window: bool, out: Path | None, as_json: bool) -> None:
    """Replay the demonstrations of RECORDINGS and show the verdict of each turn; write proof.json into each folder.

    With --live, RECORDINGS may be files that `demotape import` reads, such as flows of Chrome DevTools' Recorder; with
    --out the run is recorded. The exit code is 1 if a demonstration differs or fails.
    """
    from demotape.live_scripts import replayable

    proofs, worse = [], 0
    with tempfile.TemporaryDirectory(prefix="demotape-scripts-") as folder:
        for name, recording in replayable(recordings, Path(folder), live=live):
            proof = _run_one(recording, live=live, fast=fast, window=window, out=out and out / recording.resolve().name)
            proofs.append(proof)
            worse += proof["verdict"] in ("differs", "failed")
            if not as_json:
                _print_proof(name, proof)
    if as_json:
        from schemas.formats.proof import ProofSchema

        click.echo(json.dumps([ProofSchema().dump(proof) for proof in proofs], indent=1))
    if worse:
        raise DemotapeError(f"{worse} of {len(proofs)} demonstrations differ or failed")


def _run_one(recording: Path, *, live: bool, fast: bool, window: bool, out: Path | None):
    import asyncio

    from pipeline import proofs
    from pipeline.batch import refreshed
    from pipeline.cache import derived
    from recorder.reader import Recording
    from replay.running import running
    from replay.running.proof import proof_of

    demonstration = refreshed(recording)
    with progress("Replaying", sum(turn["type"] == "browser" and not turn["dropped"]
                                   for turn in demonstration["turns"])) as step:
        with tempfile.TemporaryDirectory(prefix="demotape-run-") as folder:
            result = asyncio.run(running.run(
                Recording(recording), demonstration, out or Path(folder) / "run", live=live, headless=not window,
                on_turn=lambda done, total: step(""), fast=fast))
        made = proof_of(demonstration, result, live=live,
                        save_blob=partial(derived.store_derived, RecordingLayout(recording)))
    proofs.write(recording, made)
    return made


def _print_proof(name: str, proof) -> None:
    console.print(f"{name}: {proof['verdict']}, {proof['seconds']:.1f} s instead of "
                  f"{proof['recorded_seconds']:.1f} s")
    for number, turn in enumerate(proof["turns"], 1):
        reason = f": {printable(turn['reason'])}" if turn["reason"] else ""
        console.print(f"  {number:3} {turn['intent']:10} {turn['verdict']}{reason}")
    for request in proof["missing"]:
        console.print(f"  not recorded: {request['method']} {printable(request['url'])} ({request['count']})")


@replay.command("act")
@click.argument("recording", type=PATH)
@click.argument("action")
@click.option("--turn", "number", type=click.IntRange(min=1), default=1, show_default=True, help="Number of the turn "
                                                                                                 "that ACTION "
                                                                                                 "replaces, as `run` "
                                                                                                 "prints it.")
@click.option("--grammar", type=click.Choice(("weblinx", "mind2web", "webvoyager", "browsergym")),
              help="Grammar of ACTION.  [default: inferred]")
@click.option("--live", is_flag=True, help="Use the real network instead of the recorded responses.")
@click.option("--window", is_flag=True, help="Show the browser's window.")
def act(recording: Path, action: str, number: int, grammar: str | None, live: bool, window: bool) -> None:
    """Replay a demonstration up to a turn, perform ACTION in place of the turn, and show the result.

    ACTION is the answer of an agent, such as "click('12')", "Click [3]" or "[button] Search -> CLICK".
    """
    import asyncio

    from pipeline.batch import refreshed
    from pipeline.isolation import PAGE, run_isolated
    from recorder.reader import Recording
    from replay.running import running
    from replay.running.parsed_action import with_action

    opened = Recording(recording)
    demonstration, after = run_isolated(PAGE, str(recording), with_action, refreshed(recording), opened, number, action,
                                        grammar)
    with tempfile.TemporaryDirectory(prefix="demotape-run-") as folder:
        result = asyncio.run(running.run(opened, demonstration, Path(folder) / "run", live=live, headless=not window,
                                         last=after))
    outcome = next((turn_outcome for turn_outcome in result.outcomes if turn_outcome.verdict == "failed"),
                   result.outcomes[-1])
    # Of the state alone: that it is not what was recorded goes without saying.
    verdict = "failed" if outcome.verdict == "failed" else result.last
    console.print(f"{outcome.intent}: {verdict}" + (f": {printable(outcome.reason)}" if verdict != "same" else ""))
    if verdict == "failed":
        raise DemotapeError(f"{action[:100]!r} could not be performed")
