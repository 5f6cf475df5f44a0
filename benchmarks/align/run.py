"""Is every action found in an external video, and is a late screenshot put right? How long does it take?

    python -m benchmarks.align [--sessions N] [--actions N] [--cases N] [--minutes N] [--seed N] [--keep DIR]

Records real sessions in a real Chromium and renders each as several videos of a meeting, with everything that a meeting
tool does to the picture and to the time (benchmarks/align/meeting.py). Then each recording, without its own video, is
aligned with the external one alone: once as it is, once with every second screenshot taken 500 ms too late. The speed
is that of a long video with idle time put between the actions, beside `ffmpeg -i VIDEO -f null -` on the same file.
"""

import argparse
import asyncio
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from benchmarks.driving.sessions import record_sessions
from pipeline.align import LOW
from pipeline.align import decode as decode_picture
from pipeline.align.pictures.ssim import ssim
from pipeline.turns.folding import fold
from recorder import Recording
from schemas.types.recordings import BrowserTurn

from .faults import Fault, copy, idle
from .meeting import Meeting, change, film, open_to_view, plan, shown_at

_LEAST = 60  # pixels, more than a caret has, in which a late screenshot must differ to be a wrong one
_RUNS = 3
_ALIKE = 0.9  # SSIM with the right screenshot of a page cut out of the video
_CLEARLY = 40  # grey levels by which a pixel of it shows something else
_RUN = """import json, resource, sys
from pathlib import Path
from pipeline import Context, align
from pipeline.turns import folding
from recorder import Recording
context = Context(Recording(Path(sys.argv[1])), video=Path(sys.argv[2]) if sys.argv[2:] else None)
found = align.stage(folding.stage({}, context), context)
used = resource.getrusage(resource.RUSAGE_SELF)
sys.stderr.write(f"{used.ru_maxrss // 1024} {used.ru_utime + used.ru_stime}")
print(json.dumps(found))"""


@dataclass(frozen=True)
class Cost:
    """Wall seconds from start to end, processor seconds, peak memory in MB."""

    wall: float
    cpu: float
    memory: int = 0


def run_alignment(recording: Path, *video: Path) -> tuple[dict, Cost]:
    """Fold and align in a process of its own; returns the demonstration and what it cost. Without a video: the rest."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", _RUN, str(recording), *map(str, video)], capture_output=True)
    if done.returncode:
        raise SystemExit(f"aligning failed: {done.stderr.decode()}")
    memory, cpu = done.stderr.split()[-2:]
    return json.loads(done.stdout), Cost(time.perf_counter() - start, float(cpu), int(memory))


def decode(video: Path) -> Cost:
    """What it costs ffmpeg to decode a video."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["ffmpeg", "-v", "quiet", "-i", str(video), "-f", "null", "-"], check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def check_times(turns: list[dict], meeting: Meeting, times: list[float], found: Counter, verbose: bool) -> None:
    """Count actions by whether their frame is within one of the truth, and how sure the alignment was."""
    for turn in turns:
        state = turn["state"]
        truth = meeting.video_time(turn["timestamp"])
        sure = state["confidence"] >= LOW
        if truth is None or truth > times[-1]:
            found["not_filmed"] += 1
            found["not_filmed_but_sure"] += sure and state["video_time"] is not None
            continue
        found["filmed"] += 1
        near = (state["video_time"] is not None
                and abs(shown_at(times, state["video_time"] + 1e-3) - shown_at(times, truth + 1e-6)) <= 1)
        found["within_one_frame"] += near
        found["low_confidence"] += not sure
        found["wrong_but_sure"] += sure and not near
        if verbose and not near:
            print(f"    {turn['id']} at {turn['timestamp']:.2f}: frame {state['video_time']} instead of {truth:.2f}, "
                  f"confidence {state['confidence']}")


def check_pictures(turns: list[dict], faults: dict[str, Fault], recording: Recording, meeting: Meeting,
                   times: list[float], found: Counter, verbose: bool) -> None:
    """Count filmed actions by whether they end with the right picture; and whether the video shows the difference at
    all, or it is cut off or covered."""
    viewport = recording.manifest["viewport"]
    size = viewport["width"], viewport["height"]
    for turn in turns:
        truth, state = meeting.video_time(turn["timestamp"]), turn["state"]
        if truth is None or truth > times[-1] or not state["screenshot"]:
            continue
        fault, view = faults.get(turn["id"]), open_to_view(meeting, size, turn["timestamp"])
        right, right_where_seen = _is_right(recording, state, fault, view)
        wrong_before = fault is not None and fault.changed.sum() >= _LEAST
        seen = not wrong_before or (fault.changed & view).sum() >= _LEAST
        found["pictures"] += 1
        found["pictures_late"] += wrong_before
        found["pictures_late_seen"] += wrong_before and seen
        found["pictures_right"] += right
        found["pictures_right_or_unseen"] += right or right_where_seen or not seen
        found["late_put_right"] += wrong_before and right
        found["good_spoiled"] += not wrong_before and not right
        if verbose and not right:
            print(f"    {turn['id']} at {turn['timestamp']:.2f}: wrong picture from "
                  f"{state.get('screenshot_source', 'recorder')}, confidence {state['confidence']}"
                  + (f", {int((fault.changed & view).sum())} of {int(fault.changed.sum())} changed pixels are seen"
                     if fault else ""))


def _is_right(recording: Recording, state: dict, fault: Fault | None, view: np.ndarray) -> tuple[bool, bool]:
    """A late one's: nearer to what was right than to what came later, where the two differ; the same where the video
    shows the difference. A good one's: unchanged, or the same to the eye in every part."""
    name = state["screenshot"]
    if fault and fault.changed.sum() >= _LEAST:
        final, right, late = (_grey(recording, one, fault.changed.shape).astype(int)
                              for one in (name, fault.right, fault.late))
        nearer = [name == fault.right or (part.any() and np.abs(final - right)[part].mean()
                                          < np.abs(final - late)[part].mean())
                  for part in (fault.changed, fault.changed & view)]
        return bool(nearer[0]), bool(nearer[1])
    same = _is_unspoiled(recording, state)
    return same, same


def _is_unspoiled(recording: Recording, state: dict) -> bool:
    """Whether a picture still shows what the screenshot that was taken does: all of it is alike, and no more pixels
    differ clearly than a caret has."""
    name, taken = state["screenshot"], state.get("screenshot_taken") or state["screenshot"]
    if name == taken:
        return True
    before = _grey(recording, taken)
    after = _grey(recording, name, before.shape)
    return ssim(before, after) >= _ALIKE and int((cv2.absdiff(before, after) > _CLEARLY).sum()) < _LEAST


def _grey(recording: Recording, name: str, shape: tuple | None = None) -> np.ndarray:
    picture = decode_picture(recording.blob(name))
    return picture if shape in (None, picture.shape) else cv2.resize(picture, shape[::-1])


def acting(demonstration: dict) -> list[dict]:
    """Browser turns that have a state."""
    return [turn for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]


def facts_of(session: Path) -> tuple[tuple[int, int], float, list[BrowserTurn]]:
    """A session's viewport, its length in seconds, its turns."""
    recording = Recording(session)
    viewport = recording.manifest["viewport"]
    return ((viewport["width"], viewport["height"]), max(event["time"] for event in recording.events) + 0.5,
            fold(recording.events))


def run_case(number: int, session: Path, folder: Path, seed: int, found: Counter, verbose: bool) -> None:
    """Film one session in one way, align it twice."""
    viewport, length, turns = facts_of(session)
    chance = random.Random(seed * 7919 + number)
    moments = [turn["timestamp"] for turn in turns]
    quiet = [after - 0.3 for before, after in zip(moments, moments[1:], strict=False) if after - before > 1.0]
    meeting = change(chance, plan(chance, viewport, length, quiet), viewport, length)
    video = folder / f"case-{number}.mkv"
    times = film(session / "video.webm", meeting, length, video)
    before = Counter(found)
    for late in (False, True):
        target = folder / f"case-{number}-{'late' if late else 'true'}"
        faults = copy(session, target, late=late)
        demonstration, _ = run_alignment(target, video)
        if late:
            late_found: Counter[str] = Counter()
            check_times(acting(demonstration), meeting, times, late_found, verbose)
            found.update({f"faulty_{name}": count for name, count in late_found.items()})
            check_pictures(acting(demonstration), faults, Recording(target), meeting, times, found, verbose)
        else:
            check_times(acting(demonstration), meeting, times, found, verbose)
            check_spoiled(acting(demonstration), Recording(target), found)
        shutil.rmtree(target)
    got = found - before
    print(f"  case {number}: {describe(meeting)}: {got['within_one_frame']} of {got['filmed']} within one frame, "
          f"{got['low_confidence']} unsure; faulty: {got['faulty_within_one_frame']} within one frame, "
          f"{got['pictures_right']} of {got['pictures']} pictures right", flush=True)
    video.unlink()


def describe(meeting: Meeting) -> str:
    """A meeting in one line."""
    return (f"{meeting.canvas[0]}x{meeting.canvas[1]} scale {meeting.scale} offset {meeting.offset:+.1f} "
            f"drift {meeting.drift * 1e6:+.0f} ppm, {len(meeting.pauses)} pauses, "
            f"{meeting.fps[0]}-{meeting.fps[1]} fps, {meeting.codec} crf {meeting.crf}, {len(meeting.moves)} moves, "
            f"dimmed {[spell.dimmed for spell in meeting.spells]}")


def check_spoiled(turns: list[dict], recording: Recording, found: Counter) -> None:
    """Count what was replaced although nothing was wrong with it, and what shows something else since."""
    found["good_replaced"] += sum("screenshot_source" in turn["state"] for turn in turns)
    found["good_spoiled"] += sum(turn["state"].get("screenshot_taken") is not None
                                 and not _is_unspoiled(recording, turn["state"]) for turn in turns)


def run_speed(session: Path, folder: Path, minutes: float, seed: int) -> dict:
    """Time a long video, and a video of a quarter of its length for the memory."""
    viewport, length, turns = facts_of(session)
    moments = sorted({turn["timestamp"] - 0.05 for turn in turns})
    chance = random.Random(seed)
    figures = {}
    for name, total in (("quarter", minutes * 15), ("whole", minutes * 60)):
        forward, back = idle(moments, length, max(total, length + 1))
        meeting = replace(plan(chance, viewport, total, []), canvas=(1280, 720), scale=min(0.9, 1180 / viewport[0]),
                          left=20, top=60, offset=8.0, drift=1e-4, pauses=[], fps=(15, 25), crf=28, thumbnails=1,
                          low_latency=False, chrome=True)
        video, target = folder / f"{name}.mp4", folder / name
        times = film(session / "video.webm", meeting, max(total, length + 1), video, back)
        copy(session, target, time=forward)
        runs = [(decode(video), *run_alignment(target, video), run_alignment(target)[1])
                for _ in range(_RUNS)]  # by turns: others work here too
        found: Counter[str] = Counter()
        check_times(acting(runs[0][1]), meeting, times, found, False)
        theirs, ours, rest = (statistics.median(cost.wall for cost in costs) for costs in (
            [run[0] for run in runs], [run[2] for run in runs], [run[3] for run in runs]))
        figures[name] = {
            "minutes": round(times[-1] / 60, 1), "actions": found["filmed"], "frames": len(times),
            "within_one_frame": round(found["within_one_frame"] / max(found["filmed"], 1), 4),
            "seconds": round(ours, 2), "ffmpeg_seconds": round(theirs, 2), "ratio": round(ours / theirs, 3),
            "seconds_without_video": round(rest, 2), "extra_ratio": round((ours - rest) / theirs, 3),
            "cpu_ratio": round(statistics.median(run[2].cpu / run[0].cpu for run in runs), 3),
            "peak_mb": max(run[2].memory for run in runs)}
        print(f"  {name}: {figures[name]}", flush=True)
    return {"speed": figures["whole"], "speed_of_a_quarter": figures["quarter"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=6, help="sessions that are recorded")
    parser.add_argument("--actions", type=int, default=60, help="actions in each")
    parser.add_argument("--cases", type=int, default=24, help="videos that are rendered of them")
    parser.add_argument("--minutes", type=float, default=20, help="length of the timed video; 0: none")
    parser.add_argument("--speed-actions", type=int, default=400, help="actions in it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder, and use what is there")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="demotape-align-"))
    kept = options.keep or folder
    found: Counter = Counter()
    figures: dict = {}
    try:
        sessions = recorded(kept / f"seed-{options.seed}", options.sessions, options.actions, options.seed)
        for number in range(options.cases):
            run_case(number, sessions[number % len(sessions)], folder, options.seed, found, options.verbose)
        if options.minutes:
            long = recorded(kept / f"long-{options.seed}", 1, options.speed_actions, options.seed + 500)[0]
            figures = run_speed(long, folder, options.minutes, options.seed)
    finally:
        shutil.rmtree(folder)
    print(json.dumps({
        "benchmark": "align", "seed": options.seed, "cases": options.cases,
        **{name: int(count) for name, count in sorted(found.items())},  # numpy's numbers are not JSON's
        "within_one_frame_share": round(found["within_one_frame"] / max(found["filmed"], 1), 4),
        "right_picture_share": round(found["pictures_right"] / max(found["pictures"], 1), 4),
        "right_picture_share_where_seen": round(found["pictures_right_or_unseen"] / max(found["pictures"], 1), 4),
        **figures}))


def recorded(folder: Path, count: int, actions: int, seed: int) -> list[Path]:
    """Sessions in a folder; recorded when they are not there."""
    if not folder.exists():
        print(f"recording {count} sessions of {actions} actions", flush=True)
        asyncio.run(record_sessions(folder, count, actions, seed))
    return [folder / f"session-{number}" for number in range(count)]
