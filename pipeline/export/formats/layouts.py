"""The files and records of each format, for croissant.json."""

from collections.abc import Iterator, Mapping

from .croissant import INTEGER, NUMBER, PICTURE, TEXT, Description, Field, FileSet, RecordSet, split_in

_PARQUET, _TAR = "application/x-parquet", "application/x-tar"
_JSON, _LINES = "application/json", "application/jsonlines"
_MEDIA = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
_TYPES = {"string": TEXT, "large_string": TEXT, "int32": INTEGER, "double": NUMBER}
_ABOUT = {
    "demonstration": "id of the demonstration", "recording": "id of the recording that it is of",
    "task": "what was to be done, in words", "index": "number of the turn in the demonstration, from 0",
    "turn": "id of the turn", "type": "chat or browser", "timestamp": "seconds since the start of the recording",
    "speaker": "who spoke, of a chat turn", "utterance": "what was said, of a chat turn",
    "source": "speech for a chat turn that was spoken", "reply_to": "the turn that a chat turn answers",
    "reactions": "JSON text: reactions to a chat turn",
    "room": "JSON text: where the instructor of a live room points, which model wrote it",
    "intent": "what was done; say for chat",
    "arguments": "JSON text: arguments of the intent", "uid": "the target's data-demotape-uid in the page",
    "element": "JSON text: the target", "state_turn": "the turn whose state this is; empty before the first",
    "url": "address of the page", "title": "title of the page", "tab": "number of the tab; -1 without a state",
    "viewport_width": "CSS pixels", "viewport_height": "CSS pixels", "scroll_x": "CSS pixels",
    "scroll_y": "CSS pixels", "zoom": "zoom of the page", "device_pixel_ratio": "device pixels of a CSS pixel",
    "screenshot_status": "good, broken, or none where there is no picture",
    "boxes": "JSON text: boxes of the elements in the viewport by uid, CSS pixels",
    "checks": "JSON text: what a reviewer was asked to look at",
    "report": "JSON text: what an agent reported of the step; null without a report",
    "answers": "JSON text: answers of people to questions about the turn and the demonstration",
    "actor": "who acted: person, agent or script",
    "agent": "name of the agent or script", "license": "licence of the recording, as it tells it",
    "consent": "yes or no: whether who acted agreed to publication; empty where it is not told",
    "review_status": "what became of the demonstration in review", "annotators": "JSON text: pseudonyms of reviewers",
    "validator": "pseudonym of who validated it", "marks": "JSON text: the marked elements by number",
    "axtree": "JSON text: the accessibility tree", "html": "the page before the turn took effect, flattened",
    "screenshot": "the viewport before it took effect", "marked_screenshot": "the screenshot with marked elements",
    "action_uid": "id of the action", "raw_html": "the whole page before the action, flattened",
    "cleaned_html": "what a reader needs of the page", "operation": "JSON text: op, original_op and value",
    "pos_candidates": "JSON texts: the target", "neg_candidates": "JSON texts: the other elements of cleaned_html",
    "website": "short name of the website", "domain": "category of the website", "subdomain": "finer category",
    "annotation_id": "id of the task", "confirmed_task": "what was to be done, in words",
    "action_reprs": "all actions of the task, in words",
    "target_action_index": "number of this action in the task, from 0", "target_action_reprs": "this action, in words"}


def tables(columns: Mapping[str, str], files: Mapping[str, str], key: str) -> Description:
    """Parquet files with those columns, by name with their Arrow types; `files`: glob pattern by split."""
    fields = [_split("tables", files), *_columns(columns)]
    keys = ["demonstration", key] if "demonstration" in columns else [key]
    return Description(
        {pattern: _PARQUET for pattern in files.values()},
        [FileSet("tables", "All Parquet files.", _PARQUET, list(files.values()))],
        [RecordSet("rows", "One record a row.", fields, keys)], list(files))


def shards(files: Mapping[str, str], kind: str, marks: bool) -> Description:
    """webdataset's tars; `files`: glob pattern by split, `kind`: the pictures' encoding, `marks`: marked ones, too."""
    members = [("turns", "json", _JSON, TEXT, "JSON text: the fields of the turn"),
               ("screenshots", kind, _MEDIA[kind], PICTURE, _ABOUT["screenshot"] + "; white where there is none"),
               ("pages", "html", "text/html", TEXT, _ABOUT["html"])]
    if marks:
        members.append(("marked-screenshots", f"marks.{kind}", _MEDIA[kind], PICTURE, _ABOUT["marked_screenshot"]))
    sets, records = [], []
    for split, pattern in files.items():
        for name, end, media, type_, about in members:
            named = f"{split}-{name}"
            inside = f"{named}-members"
            sets.append(FileSet(inside, f"The members .{end} of the shards of {split}.", media, [f"*[0-9].{end}"],
                                pattern))
            records.append(RecordSet(named, f"One record a turn in {split}.", [
                Field("key", TEXT, inside, property="filename", regex=r"([A-Za-z0-9-]+)\.", about="key of the sample"),
                Field(end, type_, inside, property="content", about=about)], ["key"]))
    return Description({pattern: _TAR for pattern in files.values()}, sets, records, list(files))


def tasks(files: Mapping[str, str], kind: str) -> Description:
    """Mind2Web's task files; `files`: glob pattern by split, `kind`: the pictures' encoding."""
    every = list(files.values())
    task = ("annotation_id", "website", "domain", "subdomain", "confirmed_task", "demonstration")
    action = ("action_uid", "cleaned_html", "raw_html", "turn", "screenshot")
    about = _ABOUT | {"screenshot": "path of the screenshot; empty where there is none"}
    return Description(
        {pattern: _JSON for pattern in every},
        [FileSet("task-files", "All task files.", _JSON, every),
         FileSet("action-files", "The same files, read by their actions.", _JSON, every),
         FileSet("screenshot-files", "Screenshots.", _MEDIA[kind], [f"raw_dump/*/screenshots/*.{kind}"]),
         FileSet("marked-screenshot-files", "Screenshots with marked elements.", _MEDIA[kind],
                 [f"raw_dump/*/marks/*.{kind}"]),
         FileSet("har-files", "Network traffic of a task (HAR 1.2).", _JSON, ["raw_dump/*/session.har"]),
         FileSet("mhtml-files", "Pages as MHTML.", "multipart/related", ["raw_dump/*/snapshots/*.mhtml"])],
        [RecordSet("tasks", "One record a task.", [
            _split("task-files", files),
            *(Field(name, TEXT, "task-files", path=f"$[*].{name}", about=about[name]) for name in task)],
            ["annotation_id"]),
         RecordSet("actions", "One record an action.", [
             _split("action-files", files),
             *(Field(name, TEXT, "action-files", path=f"$[*].actions[*].{name}", about=about[name])
               for name in action),
             *(Field(name, TEXT, "action-files", path=f"$[*].actions[*].operation.{name}")
               for name in ("op", "original_op", "value"))], ["action_uid"]),
         _pictures("screenshot-files", r"raw_dump/[^/]*/screenshots/([^/.]*)", "action_uid", "id of the action")],
        list(files))


def demonstrations(kind: str) -> Description:
    """WebLINX's folders; `kind`: the pictures' encoding."""
    folder = "demonstrations/*"
    return Description(
        {"splits.json": _JSON, "candidates/*.jsonl": _LINES, "records/*.jsonl": _LINES},
        [FileSet("replays", "The turns of a demonstration.", _JSON, [f"{folder}/replay.json"]),
         FileSet("metadata", "When and where a demonstration was recorded.", _JSON, [f"{folder}/metadata.json"]),
         FileSet("forms", "The task of a demonstration.", _JSON, [f"{folder}/form.json"]),
         FileSet("complete", "A demonstration as demotape has it.", _JSON, [f"{folder}/demotape.json"]),
         FileSet("pages", "Pages, flattened.", "text/html", [f"{folder}/pages/*.html"]),
         FileSet("boxes", "Boxes of a page's elements.", _JSON, [f"{folder}/bboxes/*.json"]),
         FileSet("screenshot-files", "Screenshots.", _MEDIA[kind], [f"{folder}/screenshots/*.{kind}"]),
         FileSet("marked-screenshot-files", "Screenshots with marked elements.", _MEDIA[kind],
                 [f"{folder}/marks/*.{kind}"]),
         FileSet("marks", "The marked elements by number.", _JSON, [f"{folder}/marks/*.json"]),
         FileSet("axtrees", "Accessibility trees.", _JSON, [f"{folder}/axtree/*.json"]),
         FileSet("candidate-files", "Ranked candidates.", _LINES, ["candidates/*.jsonl"]),
         FileSet("record-files", "What a model is given, and is to give.", _LINES, ["records/*.jsonl"])],
        [RecordSet("turns", "One record a turn.", [
            Field("demonstration", TEXT, "replays", property="fullpath", regex="demonstrations/([^/]*)",
                  about="name of its folder; splits.json has them by split"),
            Field("type", TEXT, "replays", path="$.data[*].type", about=_ABOUT["type"]),
            Field("timestamp", NUMBER, "replays", path="$.data[*].timestamp", about=_ABOUT["timestamp"])]),
         _pictures("screenshot-files", "(.*)", "path", "path of the file"),
         RecordSet("candidates", "One record a candidate.", [*_json_fields("candidate-files", {
             "demo_name": TEXT, "turn_index": INTEGER, "uid": TEXT, "query": TEXT, "doc": TEXT, "label": INTEGER,
             "score": NUMBER, "rank": INTEGER})]),
         RecordSet("records", "One record a turn that a model is to predict.", [*_json_fields("record-files", {
             "demo_name": TEXT, "turn_index": INTEGER, "screenshot": TEXT, "html": TEXT, "action": TEXT})])])


def lines(files: Mapping[str, str], kind: str) -> Description:
    """JSON lines with files beside them; `files`: path by split, `kind`: the pictures' encoding."""
    return Description(
        {"*.jsonl": _LINES, "dataset_info.json": _JSON},
        [FileSet("samples", "All samples.", _LINES, list(files.values())),
         FileSet("as-texts", "The same samples with texts in which <image> stands for each image.", _LINES,
                 ["sharegpt/*.jsonl"]),
         FileSet("page-files", "Pages, flattened.", "text/html", ["pages/*.html"]),
         FileSet("screenshot-files", "Screenshots, also with marked elements.", _MEDIA[kind], [f"images/*.{kind}"])],
        [RecordSet("rows", "One record a sample.", [
            _split("samples", files), *(Field(name, TEXT, "samples", column=name, about=_ABOUT[name])
                                        for name in ("demonstration", "turn", "intent"))], ["demonstration", "turn"]),
         _pictures("screenshot-files", "(.*)", "path", "path of the file")], list(files))


def labelling(files: Mapping[str, str], config: str, kind: str) -> Description:
    """Label Studio's tasks; `files`: path by split, `config`: that of the labelling interface, `kind`: the pictures'
    encoding."""
    fields = [_split("task-files", files), *(
        Field(name, TEXT, "task-files", path=f"$[*].data.{name}", about=_ABOUT[name])
        for name in ("demonstration", "turn", "intent"))]
    return Description(
        {**dict.fromkeys(files.values(), _JSON), config: "application/xml"},
        [FileSet("task-files", "All tasks.", _JSON, list(files.values())),
         FileSet("screenshot-files", "Screenshots.", _MEDIA[kind], [f"images/*.{kind}"])],
        [RecordSet("rows", "One record a task.", fields, ["demonstration", "turn"]),
         _pictures("screenshot-files", "(.*)", "path", "path of the file")], list(files))


def scripts(files: Mapping[str, str]) -> Description:
    """One script a demonstration; `files`: glob pattern by split."""
    return Description(
        {pattern: "text/plain" for pattern in files.values()},
        [FileSet("script-files", "All scripts.", "text/plain", list(files.values()))],
        [RecordSet("scripts", "One record a script.", [
            _split("script-files", files),
            Field("name", TEXT, "script-files", property="fullpath", regex=r"[^/]*/([^/]*)\.py",
                  about="name of the demonstration, as the manifest has it"),
            Field("script", TEXT, "script-files", property="content", about="the script")], ["name"])], list(files))


def documents(files: Mapping[str, str], kind: str) -> Description:
    """ATIF's documents, one a demonstration; `files`: glob pattern by split, `kind`: the pictures' encoding."""
    pages = FileSet("page-files", "Pages, flattened.", "text/html", ["pages/*.html"])
    return _trajectories(files, kind, {"trajectory_id": "$.trajectory_id", "session_id": "$.session_id"}, [pages])


def protocol(files: Mapping[str, str], kind: str) -> Description:
    """ADP's documents, one a demonstration; `files`: glob pattern by split, `kind`: the pictures' encoding."""
    return _trajectories(files, kind, {"id": "$.id", "recording": "$.details.demotape.recording"}, [])


def tasks_of_steps(files: Mapping[str, str], kind: str) -> Description:
    """AgentNet's lines, one a demonstration; `files`: path by split, `kind`: the pictures' encoding."""
    return Description(
        {path: _LINES for path in files.values()},
        [FileSet("task-files", "All tasks.", _LINES, list(files.values())),
         FileSet("screenshot-files", "Screenshots.", _MEDIA[kind], [f"images/*.{kind}"])],
        [RecordSet("tasks", "One record a demonstration.", [
            _split("task-files", files), Field("task_id", TEXT, "task-files", column="task_id",
                                               about=_ABOUT["demonstration"]),
            Field("instruction", TEXT, "task-files", column="instruction", about=_ABOUT["task"])], ["task_id"]),
         _pictures("screenshot-files", "(.*)", "path", "path of the file")], list(files))


def _trajectories(files: Mapping[str, str], kind: str, ids: Mapping[str, str], more: list[FileSet]) -> Description:
    """One JSON document a demonstration; `ids`: JSON paths of its id and of its recording's, by name."""
    [first, second] = ids
    return Description(
        {pattern: _JSON for pattern in files.values()},
        [FileSet("trajectory-files", "All trajectories.", _JSON, list(files.values())), *more,
         FileSet("screenshot-files", "Screenshots.", _MEDIA[kind], [f"images/*.{kind}"])],
        [RecordSet("trajectories", "One record a demonstration.", [
            _split("trajectory-files", files),
            Field(first, TEXT, "trajectory-files", path=ids[first], about=_ABOUT["demonstration"]),
            Field(second, TEXT, "trajectory-files", path=ids[second], about=_ABOUT["recording"])], [first]),
         _pictures("screenshot-files", "(.*)", "path", "path of the file")], list(files))


def _split(file_set: str, files: Mapping[str, str]) -> Field:
    return Field("split", TEXT, file_set, property="fullpath", regex=split_in(files), splits=True, about="the split")


def _columns(columns: Mapping[str, str]) -> Iterator[Field]:
    for name, type_ in columns.items():
        about = _ABOUT.get(name, "")
        if type_.startswith("struct<"):
            yield Field(name, PICTURE, "tables", column=name, inside="bytes", about=about)
        elif type_.startswith("list<"):
            yield Field(name, TEXT, "tables", column=name, repeated=True, about=about)
        else:
            yield Field(name, _TYPES[type_], "tables", column=name, about=about)


def _json_fields(file_set: str, columns: Mapping[str, str]) -> Iterator[Field]:
    """The fields of a file set of JSON lines; `columns`: type by name."""
    for name, type_ in columns.items():
        yield Field(name, type_, file_set, column=name)


def _pictures(files: str, regex: str, name: str, about: str) -> RecordSet:
    return RecordSet("screenshots", "One record a screenshot.", [
        Field(name, TEXT, files, property="fullpath", regex=regex, about=about),
        Field("picture", PICTURE, files, property="content", about=_ABOUT["screenshot"])])
