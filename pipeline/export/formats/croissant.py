"""croissant.json: the contents of an export in the vocabulary of Croissant 1.0 (MLCommons), from facts to a plain
dictionary.

Only what is known stands in it. Croissant also asks for `creator`, `url` and `datePublished`, and for `license` where
the recordings tell none or several: whoever publishes the data set adds these.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from pipeline.export.manifest import ManifestFile

NAME = "croissant.json"
VERSION = "http://mlcommons.org/croissant/1.0"
TEXT, INTEGER, NUMBER, PICTURE = "sc:Text", "sc:Integer", "sc:Float", "sc:ImageObject"
_SPLITS = "splits"
_SPDX = "https://spdx.org/licenses/"
# The context that the specification gives; readers compare it with theirs.
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform"}


@dataclass(frozen=True)
class FileSet:
    """Files of one kind: all whose paths match one of the glob patterns, in the export or in archives of it.

    `archives`: glob pattern of the archives' paths.
    """

    id: str
    about: str
    media_type: str
    includes: Sequence[str]
    archives: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a record, read from the files of a file set.

    Either by `column` of a table, by `path` (JSONPath), or by `property` of the file (`content`, `filename`,
    `fullpath`), of which `regex` takes the part that its group matches; `inside`: JSONPath in what was read.
    `splits`: it names the split of the record.
    """

    name: str
    type: str
    files: str
    column: str = ""
    path: str = ""
    property: str = ""
    regex: str = ""
    inside: str = ""
    repeated: bool = False
    splits: bool = False
    about: str = ""


@dataclass(frozen=True)
class RecordSet:
    """Records of one kind; `key`: names of the fields that tell one from the others."""

    id: str
    about: str
    fields: Sequence[Field]
    key: Sequence[str] = ()


@dataclass(frozen=True)
class Description:
    """What there may be in an export of some layout.

    `listed`: media types of the files that are listed one by one with their SHA-256, by the glob patterns of their
    paths; of the others, which may be millions, file sets tell the patterns. `splits`: names of the splits.
    """

    listed: Mapping[str, str]
    file_sets: Sequence[FileSet]
    record_sets: Sequence[RecordSet] = ()
    splits: Sequence[str] = ()


def present(description: Description, files: Iterable[ManifestFile]) -> tuple[Description, list[ManifestFile]]:
    """The description without what no file of the export is; and the files that are listed, by their paths."""
    missing = {file_set.id: file_set for file_set in description.file_sets}
    listed = []
    for file in files:
        if _media_type(file["path"], description.listed):
            listed.append(file)
        for file_set in list(missing.values()):
            if any(fnmatchcase(file["path"], pattern) for pattern in ([file_set.archives] if file_set.archives else
                                                                      file_set.includes)):
                del missing[file_set.id]
    described = replace(
        description, file_sets=[file_set for file_set in description.file_sets if file_set.id not in missing],
        record_sets=[records for records in description.record_sets
                     if not any(file_set.files in missing for file_set in records.fields)])
    return described, sorted(listed, key=lambda file: file["path"])


def croissant(description: Description, files: Sequence[ManifestFile], about: str, licenses: Sequence[str]
              ) -> dict[str, Any]:
    """The JSON-LD document of what `present` gives. `licenses`: what the recordings tell, "" where they tell none."""
    document: dict[str, Any] = {
        "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": VERSION, "name": "Demonstrations of web tasks",
        "description": about, "keywords": ["web agents", "demonstrations"]}
    if len(licenses) == 1 and licenses[0]:
        document["license"] = license_of(licenses[0])
    document["distribution"] = [*(_file(file, description.listed) for file in files),
                                *(_file_set(file_set, files) for file_set in description.file_sets)]
    splits = [_split_names(description.splits)] if any(
        field_.splits for records in description.record_sets for field_ in records.fields) else []
    document["recordSet"] = [*splits, *map(_record_set, description.record_sets)]
    return document


def split_in(patterns: Mapping[str, str]) -> str:
    """A regular expression whose one group that matches is the split, from the glob pattern of each split's files.

    It matches the split's name by itself, too: mlcroissant applies it twice.
    """
    return "|".join("(?:{})?({})(?:{})?$".format(*(re.escape(part).replace(r"\*", "[^/]*") for part in (
        before, split, after))) for split, pattern in patterns.items()
        for before, _, after in (pattern.partition(split),))


def license_of(name: str) -> str:
    """The licence's address at SPDX where the name is one of SPDX's that are usual for data, else the name itself."""
    return _SPDX + _KNOWN[name.lower()] if name.lower() in _KNOWN else name


def _file(file: ManifestFile, listed: Mapping[str, str]) -> dict[str, Any]:
    return {"@type": "cr:FileObject", "@id": file["path"], "name": file["path"], "contentUrl": file["path"],
            "contentSize": f"{file['size']} B", "encodingFormat": _media_type(file["path"], listed),
            "sha256": file["sha256"]}


def _media_type(path: str, listed: Mapping[str, str]) -> str:
    return next((type_ for pattern, type_ in listed.items() if fnmatchcase(path, pattern)), "")


def _file_set(file_set: FileSet, files: Sequence[ManifestFile]) -> dict[str, Any]:
    """A cr:FileSet as JSON-LD; one inside archives names those of `files` that are such archives."""
    written: dict[str, Any] = {"@type": "cr:FileSet", "@id": file_set.id, "name": file_set.id,
                               "description": file_set.about}
    if file_set.archives:
        written["containedIn"] = [{"@id": file["path"]} for file in files
                                  if fnmatchcase(file["path"], file_set.archives)]
    return written | {"encodingFormat": file_set.media_type, "includes": list(file_set.includes)}


def _split_names(splits: Sequence[str]) -> dict[str, Any]:
    name = f"{_SPLITS}/name"
    return {"@type": "cr:RecordSet", "@id": _SPLITS, "name": _SPLITS, "dataType": "cr:Split",
            "description": "The splits of the data set.", "key": {"@id": name},
            "field": [{"@type": "cr:Field", "@id": name, "name": "name", "dataType": TEXT}],
            "data": [{name: split} for split in splits]}


def _record_set(records: RecordSet) -> dict[str, Any]:
    written: dict[str, Any] = {"@type": "cr:RecordSet", "@id": records.id, "name": records.id,
                               "description": records.about}
    if records.key:
        written["key"] = [{"@id": f"{records.id}/{name}"} for name in records.key]
    return written | {"field": [_field(field_, records.id) for field_ in records.fields]}


def _field(field_: Field, records: str) -> dict[str, Any]:
    written: dict[str, Any] = {"@type": "cr:Field", "@id": f"{records}/{field_.name}", "name": field_.name}
    if field_.about:
        written["description"] = field_.about
    extract = ({"column": field_.column} if field_.column else {"jsonPath": field_.path} if field_.path else
               {"fileProperty": field_.property})
    source: dict[str, Any] = {"fileSet": {"@id": field_.files}, "extract": extract}
    if field_.regex:
        source["transform"] = {"regex": field_.regex}
    elif field_.inside:
        source["transform"] = {"jsonPath": field_.inside}
    written |= {"dataType": field_.type, "source": source}
    if field_.repeated:
        written["repeated"] = True
    if field_.splits:
        written["references"] = {"field": {"@id": f"{_SPLITS}/name"}}
    return written


_KNOWN = {name.lower(): name for name in (
    "Apache-2.0", "MIT", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0",
    "CC-BY-NC-ND-4.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0", "CDLA-Permissive-2.0")}
