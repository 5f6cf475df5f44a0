"""Redaction of names and postal addresses in exports: finds them in texts, pages and fields, and makes stand-ins."""

from collections.abc import Iterable, Mapping

from pipeline.pages.dom import Element

from . import finding, labels, lists
from .stand_ins import StandIns


class NameRedaction(StandIns):
    """Finds names and addresses, and makes their stand-ins under a key. Raises InputError without the extra `names`.

    `rules`: the versions of the libraries that decide what is found.
    """

    def __init__(self, key: str):
        super().__init__(key)
        self.rules = lists.versions()

    def in_texts(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        """Values in texts, with their kinds."""
        return finding.findings(texts)

    def on_page(self, texts: Iterable[str], root: Element) -> list[tuple[str, str]]:
        """Values on a page, with their kinds: in its texts, by its labels, and in its fields."""
        return finding.on_page(texts, root)

    def kind_in_field(self, attributes: Mapping[str, str], value: str) -> str | None:
        """The kind of a value that was entered in a field with these attributes; None if it is neither name nor
        address."""
        kind = labels.field_kind(attributes)
        return kind if kind and labels.is_value(value, kind) else None
