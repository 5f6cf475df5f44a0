"""What the pages of a recording loaded: style sheets, images and fonts, by address and time."""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from recorder import Recording
from schemas import InputError

from .style_sheets import css_string

NOTHING = "data:,"
_DESCRIPTORS = ("font-family", "font-style", "font-weight", "font-stretch", "unicode-range")
_DESCRIPTOR = re.compile(r"[\w%+?, .-]{1,2000}")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}")


class Resources:
    """What the pages of a recording loaded. An address may have had other content at another time."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._by_url: dict[str, list[Mapping[str, Any]]] = {}
        for line in recording.resources():
            self._by_url.setdefault(line["url"].partition("#")[0], []).append(line)
        for lines in self._by_url.values():
            lines.sort(key=lambda line: line["time"])
        self._encoded = lru_cache(maxsize=256)(self._encode)

    def at(self, time: float | None) -> "ResourcesAt":
        """The resources as they were `time` seconds after the recording began; None: as they were last."""
        return ResourcesAt(self, time)

    def content(self, url: str, time: float | None) -> bytes | None:
        """Content of an address at a time, None when it was not kept; a damaged one is a missing one, and is reported
        by `demotape check`."""
        line = self._line(url, time)
        try:
            return self._recording.blob(line["blob"]) if line else None
        except InputError:
            return None

    def data_uri(self, url: str, time: float | None) -> str:
        """The same as a data: URI, an empty one when it was not kept."""
        line = self._line(url, time)
        return self._encoded(line["blob"], line["content_type"]) if line else NOTHING

    def fonts(self) -> list[str]:
        """Addresses of all that is a font by its type or its first bytes, in the order in which they came."""
        lines = sorted((lines[0] for lines in self._by_url.values()), key=lambda line: line["time"])
        return [line["url"] for line in lines if "font" in line["content_type"]]

    def _line(self, url: str, time: float | None) -> Mapping[str, Any] | None:
        """The newest line of an address that is not later than a time; where all are, the first."""
        lines = self._by_url.get(url.partition("#")[0])
        if not lines:
            return None
        number = len(lines) if time is None else bisect_right(lines, time, key=lambda line: line["time"])
        return lines[max(number - 1, 0)]

    def _encode(self, blob: str, content_type: str) -> str:
        try:
            content = self._recording.blob(blob)
        except InputError:
            return NOTHING
        kind = _MEDIA_TYPE.match(content_type)
        return f"data:{kind[0] if kind else 'application/octet-stream'};base64,{base64.b64encode(content).decode()}"


class ResourcesAt:
    """Resources as they were at one time."""

    def __init__(self, resources: Resources, time: float | None):
        self._resources, self._time = resources, time
        self._used: set[str] = set()

    def text(self, url: str) -> str | None:
        """A style sheet's text, None when it was not kept."""
        content = self._resources.content(url, self._time)
        return content if content is None else content.decode("utf-8", "replace")

    def data_uri(self, url: str) -> str:
        """An image or font as a data: URI; an empty one when it was not kept."""
        if url.startswith("data:"):
            return url
        self._used.add(url.partition("#")[0])
        uri = self._resources.data_uri(url, self._time)
        fragment = url.partition("#")[2]
        return f"{uri}#{fragment}" if fragment and uri != NOTHING else uri

    def font_rules(self, fonts_json: str) -> str:
        """Rules for the fonts that scripts have made, of which the browser reports no address.

        `fonts_json` lists family, style, weight, stretch and range of characters of each. Their files are the fonts
        that no rule names, in the same order; one file may be that of several. Empty where the numbers differ. To be
        called after all of the page was written.
        """
        try:
            fonts = [[str(value) for value in font] for font in json.loads(fonts_json)]
        except (ValueError, TypeError):
            return ""
        files = [url for url in self._resources.fonts() if url not in self._used]
        if len(files) == 1:
            files *= len(fonts)
        if len(files) != len(fonts) or not all(len(font) == len(_DESCRIPTORS) for font in fonts):
            return ""
        return "".join(_font_rule(font, self._resources.data_uri(file, self._time))
                       for font, file in zip(fonts, files, strict=True))


def _font_rule(font: list[str], uri: str) -> str:
    family, *others = font
    descriptors = "".join(f"{name}:{value};" for name, value in zip(_DESCRIPTORS[1:], others, strict=True)
                          if _DESCRIPTOR.fullmatch(value))
    return f"@font-face{{font-family:{css_string(family)};{descriptors}src:url({css_string(uri)})}}"
