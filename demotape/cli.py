"""The command line: each command is a thin skin over one function of the packages below."""

import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import DemotapeError, InputError
from schemas.actors import ACTORS
from schemas.files import restrict_umask

from .commands import (
    admin_commands,
    agent_commands,
    bundle_command,
    convert_command,
    data_set_commands,
    environment_commands,
    judge_commands,
    outcome_commands,
    project_commands,
    ranker_commands,
    replay_commands,
    room_commands,
    setup_command,
    summary,
    task_commands,
    user_commands,
)
from .commands.app_data import create_option, new_data_folder, of_app, of_database, open_app
from .commands.new_folders import new_folder
from .commands.next_task import of_tasks
from .commands.terminal import PATH as _PATH
from .commands.terminal import complain as _complain
from .commands.terminal import console, errors, printable
from .commands.terminal import print_line as _tell
from .commands.terminal import progress as _progress

if TYPE_CHECKING:
    from curator_web.demonstrations.library.library import Imported


class _Commands(click.Group):
    """Turns our own errors into one line and an exit code, and Ctrl-C into a quiet end."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except DemotapeError as error:
            _complain("error", error)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            errors.print("stopped")
            ctx.exit(130)


# Each option has an environment variable: its own, or DEMOTAPE_COMMAND_OPTION.
@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "DEMOTAPE"})
@click.version_option(package_name="demotape")
def main() -> None:
    """Record, review and export demonstrations of web tasks as data for web agents."""
    restrict_umask()


@main.command()
@click.option("--out", type=_PATH, default=Path("demotape-demo"), show_default=True,
              help="Output folder of the demo; an earlier demo in it is replaced.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
              help="Port of the review app; a free port is used if it is in use.")
def demo(out: Path, port: int) -> None:
    """Run the whole workflow on a bundled site, then serve the review app.

    Books a flight on an airline's page with a scripted navigator, processes the recording with an instructor's chat,
    imports it into the review app and exports it. Prints three commands to go on with, then serves the review app,
    unless there is no terminal or CI is set.
    """
    from .demo import run

    with _progress("Demo") as step:
        result = run(out, step)
    summary.print_demo(console, result)
    if sys.stdout.isatty() and sys.stdin.isatty() and not os.environ.get("CI"):
        try:
            _serve(None, result.data, "127.0.0.1", port)
        except InputError:
            _serve(None, result.data, "127.0.0.1", 0)


@main.command()
@click.argument("url", required=False)
@click.option("--task", default="", help="Text of the task.")
@click.option("--out", type=_PATH, help="Folder of the new recording.  [default: recordings/DATE-TIME]")
@click.option("--headless", is_flag=True, help="Run without a window, for tests and agents.")
@click.option("--connect", metavar="CDP_URL", help="Record a running Chromium that was started with "
                                                   "--remote-debugging-port; it is not closed at the end.")
@click.option("--har", is_flag=True, help="Record the network traffic with bodies as network.har, without secrets.")
@click.option("--replayable", is_flag=True, help="Record the data that `demotape replay` needs.")
@click.option("--console", "keep_console", is_flag=True, help="Record the console messages and uncaught errors of "
                                                              "pages.")
@click.option("--mhtml", is_flag=True, help="Save each page as a self-contained MHTML file.")
@click.option("--axtree", is_flag=True, help="Add the accessibility tree of each state; `demotape process` creates it.")
@click.option("--actor", type=click.Choice(ACTORS), help="Actor of the session.  [default: person, if a window is "
                                                         "shown]")
@click.option("--agent", metavar="NAME", help="Name and version of the agent or script that acts.")
@click.option("--consent/--no-consent", default=None, help="Whether the actor consents to publication of the "
                                                           "recording.")
@click.option("--person", metavar="NAME", help="Name of the person who acts; consent and licence are asked once for "
                                               "each name.  [default: asked before each session]")
@click.option("--license", metavar="NAME", envvar="DEMOTAPE_LICENSE", show_envvar=True,
              help="Licence of the recording, such as CC-BY-4.0.")
@click.option("--room", metavar="URL", help="Record in a live room: the address of the review app, which opens a new "
                                            "room, or of a room in it.")
@of_tasks
def record(url: str | None, task: str, out: Path | None, headless: bool, connect: str | None, har: bool,
           replayable: bool, keep_console: bool, mhtml: bool, axtree: bool, following: bool, project: str | None,
           server: str | None, token: str | None, db: str | None, data: Path, person: str | None, room: str | None,
           **provenance: Any) -> None:
    """Record a session in the browser, starting at URL. Close the window or press Ctrl-C to stop."""
    import asyncio

    from .commands.live_room import enter_room
    from .commands.next_task import take_task
    from .commands.provenance import person_name, with_answers
    from .recording import record as record_live

    consent_prompt = None
    if following:
        if task:
            raise click.UsageError("pass either --task or --next")
        assignment = take_task(project, server, token, db, data)
        consent_prompt = assignment.get("consent_prompt", consent_prompt)
        task, url, provenance["task_id"] = assignment["text"], url or assignment["url"] or None, assignment["name"]
        _tell(f"Task: {printable(task)}")
        if assignment.get("answer"):
            _tell(f"Expected answer: {printable(assignment['answer'])}")
    if not url and not connect:
        raise click.UsageError("pass the URL of the start page, or --connect")
    provenance["actor"] = provenance["actor"] or (None if headless or connect else "person")
    directory = out or Path("recordings") / datetime.now().strftime("%Y-%m-%d-%H%M%S")
    provenance = with_answers(provenance, person_name(person), consent_prompt)
    live_room = enter_room(room, token, project, task, click.echo) if room else None
    if live_room:
        task = live_room.task
        provenance |= {"task_id": live_room.task_name} if live_room.task_name else {}
    with new_folder(directory) as keep:

        def say(text: str) -> None:
            keep()  # from now on there is something to lose
            console.print(text)

        recorder = asyncio.run(record_live(url and _with_scheme(url), directory, task, headless=headless,
                                           connect=connect, say=say, har=har, replayable=replayable,
                                           console=keep_console, mhtml=mhtml, axtree=axtree, provenance=provenance,
                                           room=live_room))
    summary.print_recording(console, directory, recorder.problems)


@main.command()
@click.argument("recordings", nargs=-1, required=True, type=_PATH)
@click.option("--chat", type=_PATH, help="Chat log of the session: Zoom, WebVTT, Slack, Discord, JSONL, CSV "
                                         "or a plug-in's.")
@click.option("--speaker", "speakers", multiple=True, metavar="NAME=ROLE",
              help="Role of a speaker in the chat: instructor or navigator.  [default: inferred]")
@click.option("--video", type=_PATH, help="External video of the session, such as a meeting tool's screen recording.")
@click.option("--speech", type=_PATH, help="Subtitles of the video's speech (.vtt, .srt).  [default: a subtitle file "
                                           "beside the video of --video]")
@click.option("--recogniser", metavar="NAME", help="Recognise the speech of the video on this machine: "
                                                   "faster-whisper or a plug-in's.")
@click.option("--speech-model", "model", metavar="MODEL", help="Model of the recogniser, such as its folder; models "
                                                               "are never downloaded.")
@click.option("--video-offset", type=float, metavar="SECONDS", help="Position of the recording's start in the video; "
                                                                    "overrides the alignment.")
@click.option("--video-drift", type=float, metavar="PPM", help="Drift of the video's clock in parts per million, "
                                                               "positive if it is fast; requires --video-offset.")
@click.option("--video-rectangle", metavar="LEFT,TOP,WIDTH,HEIGHT", help="Position of the page in the video's "
                                                                         "frames: left and top in frame pixels, "
                                                                         "horizontal and vertical scale in frame "
                                                                         "pixels per CSS pixel.")
@click.option("--without-chat", is_flag=True, help="Omit the chat log of the last run.")
@click.option("--without-video", is_flag=True, help="Omit the external video of the last run.")
@click.option("--without-speech", is_flag=True, help="Omit the speech of the last run, and subtitles beside the video.")
@click.option("--without-place", is_flag=True, help="Omit the video placement of the last run.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of parallel processes.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster of the scheduler at tcp://HOST:PORT.")
def process(recordings: tuple[Path, ...], chat: Path | None, speakers: tuple[str, ...], video: Path | None,
            speech: Path | None, recogniser: str | None, model: str | None, video_offset: float | None,
            video_drift: float | None, video_rectangle: str | None, without_chat: bool, without_video: bool,
            without_speech: bool, without_place: bool, jobs: int, scheduler: str | None) -> None:
    """Derive demonstrations from recordings: write demonstration.json into each folder, skip unchanged ones.

    The chat log, speakers, video, video placement and speech of the last run are used again unless they are given.
    """
    from pipeline import batch

    from .commands.video_location import parse_location

    without = (("chat",) * without_chat + ("video",) * without_video + ("speech",) * without_speech
               + ("place",) * without_place)
    work = batch.jobs_for(recordings, chat, _roles(speakers), video, without, speech=speech, recogniser=recogniser,
                          model=model, placement=parse_location(video_offset, video_drift, video_rectangle))
    for job in work:
        for note in summary.reuse_lines(job):
            errors.print(note)
    with batch.executor(min(jobs, len(work)), scheduler) as executor, _progress("Processing", len(work)) as step:
        failed, reported = [], set()
        for outcome in batch.run(work, executor):
            for complaint in outcome.complaints:
                if complaint not in reported:
                    _complain("warning", complaint)
                reported.add(complaint)
            if outcome.state == "failed":
                failed.append(outcome)
                if len(work) > 1:
                    _complain("error", outcome.reason)
            else:
                _tell(summary.processed_line(outcome))
            step(str(outcome.path))
    if error := summary.processing_error(failed, len(work)):
        raise error


@main.command("import")
@click.argument("paths", nargs=-1, type=_PATH)
@click.option("--from", "importer", metavar="NAME", help="Importer that reads PATHS, see --list.  [default: detected]")
@click.option("--list", "show_list", is_flag=True, help="Only list what is accepted.")
@click.option("--project", metavar="ID", help="Target project.  [default: the only one]")
@create_option
@of_database
@of_app
def import_(paths: tuple[Path, ...], importer: str | None, show_list: bool, project: str | None, create: bool,
            db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Import processed recordings, packages (zip files) of the extension, and data of other tools."""
    if show_list:
        return summary.print_importers(console)
    if not paths:
        raise click.UsageError("Missing argument 'PATHS...'.")
    from curator_web.users import projects

    from .importing import Part, Unreadable, expand_paths, import_part

    with new_data_folder(data) as keep:
        database, store = open_app(db, data, blobs, endpoint_url, create=create)
        into = projects.named(database, project)

        def report(part: Path | Part | Unreadable, imported: "Imported") -> None:
            keep()
            _tell(summary.imported_line(part, imported))

        _for_each_path(expand_paths(paths, importer), "Importing",
                       lambda part: import_part(database, store, part, into), report)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
              help="Port to listen on; 0 selects a free port.")
@click.option("--upload-days", type=click.FloatRange(0, min_open=True), metavar="DAYS",
              default=7, show_default=True, envvar="DEMOTAPE_UPLOAD_DAYS", show_envvar=True,
              help="Discard an upload after this number of days without a chunk.")
@of_database
@of_app
def review(host: str, port: int, upload_days: float, db: str | None, data: Path, blobs: str | None,
           endpoint_url: str | None) -> None:
    """Serve the review app."""
    from .environment import model, openid, webhook_networks

    settings = {"openid": openid(), "webhook_networks": webhook_networks(), "model": model()}
    with new_data_folder(data) as keep:
        _serve(db, data, host, port, keep, blobs=blobs, endpoint_url=endpoint_url, upload_days=upload_days, **settings)


for _command in (*data_set_commands.COMMANDS, convert_command.convert, bundle_command.bundle,
                 judge_commands.judge, ranker_commands.ranker, replay_commands.replay, room_commands.room,
                 user_commands.user, project_commands.project, task_commands.task, admin_commands.admin,
                 outcome_commands.outcome, agent_commands.agents,
                 environment_commands.environments, setup_command.setup):
    main.add_command(_command)


def _for_each_path(paths: Iterable[Any], title: str, work: Callable, report: Callable) -> None:
    """Do one piece of work after the other; a bad one does not stop the rest, and the last error decides the end."""
    paths, failed = list(paths), []
    with _progress(title, total=len(paths)) as step:
        for path in paths:
            try:
                result = work(path)
            except DemotapeError as error:
                failed.append(error)
                if len(paths) > 1:
                    _complain("error", error)
            else:
                report(path, result)
            step(str(path))
    if len(paths) == 1 and failed:
        raise failed[0]
    if failed:
        raise type(failed[0])(f"{len(failed)} of {len(paths)} failed, see above; the others succeeded")


def _serve(db: str | None, data: Path, host: str, port: int, on_listening: Callable[[], None] = lambda: None,
           **settings: Any) -> None:
    """Serve the review app. `on_listening` is called when it can be reached."""
    from curator_web import create_app
    from curator_web.server import serve

    from .importing import import_package
    from .rerun import run_again

    def say(text: str) -> None:
        on_listening()
        print(text)

    serve(create_app(db, data, import_package=import_package, run_again=run_again, **settings), host, port, say)


def _roles(speakers: tuple[str, ...]) -> dict[str, str]:
    roles = {}
    for speaker in speakers:
        name, _, role = speaker.rpartition("=")
        if not name or role not in ("instructor", "navigator"):
            raise click.BadParameter(f"{speaker!r}: must be NAME=instructor or NAME=navigator", param_hint="--speaker")
        roles[name] = role
    return roles


def _with_scheme(url: str) -> str:
    return url if "://" in url or url.startswith(("about:", "data:")) else f"https://{url}"
