"""The documents of an export, for people and for machines: README.md, the data set card, and croissant.json."""

from collections.abc import Mapping

from pipeline.export.destinations.destination import Destination
from pipeline.export.source import Options

from .card import Counts, Words, card
from .croissant import NAME, Description, croissant, present
from .features import Features


def write(destination: Destination, options: Options, counts: Counts, words: Words, files: Mapping[str, str],
          description: Description, features: Features | None = None) -> None:
    """Write both, when all other files are complete; `files`: pattern of the data files that `datasets` reads by split,
    `features`: types of their rows, if the files do not contain them.
    """
    destination.write("README.md", card(counts, files, options, destination.summary, words, features).encode())
    present_description, listed = present(description, destination.written_files())
    about = " ".join(f"{counts.sizes(words)}. {words.about}".split())
    destination.write_json(NAME, croissant(present_description, listed, about, counts.license_names()))
