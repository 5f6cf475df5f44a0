"""Push an export to a data set repository of the Hugging Face Hub, or of a server with the same API."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pipeline import extras
from pipeline.export import MANIFEST, read_export
from pipeline.verify import verify
from schemas import InputError

_ADDRESS = re.compile(r"hf://([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})/?")
_OF_THE_REPOSITORY = ".gitattributes"  # the Hub's own, which says what is stored as large files


@dataclass(frozen=True)
class Pushed:
    """What was sent, or would be: `address` of the repository's page, `removed`: files of an earlier export that this
    one does not have, `size` in bytes."""

    address: str
    files: int
    size: int
    removed: int


def push(folder: Path, address: str, *, public: bool = False, message: str = "", dry_run: bool = False) -> Pushed:
    """Make the repository at `address` (`hf://OWNER/NAME`) hold this export and nothing else, in one commit.

    It is made when it does not exist, private unless `public`. The token is huggingface_hub's: HF_TOKEN, or that of
    `hf auth login`; HF_ENDPOINT names another server. `dry_run`: nothing is sent or asked.
    Raises InputError for an export that is not whole, a public repository without `public`, and what the server says.
    """
    if not (named := _ADDRESS.fullmatch(address)):
        raise InputError(f"{address}: must be hf://OWNER/NAME")
    manifest = read_export(folder)
    if problems := verify(folder):
        raise InputError(f"{folder}: incomplete or damaged, nothing was uploaded: {problems[0]}")
    paths = [MANIFEST, *(file["path"] for file in manifest["files"])]
    size = sum((folder / path).stat().st_size for path in paths)
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    page = f"{endpoint}/datasets/{named[1]}"
    if dry_run:
        return Pushed(page, len(paths), size, 0)
    return Pushed(page, len(paths), size, _send(folder, named[1], paths, public, message, endpoint))


def _send(folder: Path, repository: str, paths: list[str], public: bool, message: str, endpoint: str) -> int:
    """Send the files in one commit; returns how many of the repository's are no longer in it."""
    with extras.importing("hub"):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
        from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError
    hub = HfApi(endpoint=endpoint)
    try:
        hub.create_repo(repository, repo_type="dataset", private=not public, exist_ok=True)
        if not public and not hub.dataset_info(repository).private:
            raise InputError(f"hf://{repository}: is public, nothing was uploaded; pass --public to allow this")
        old = {*hub.list_repo_files(repository, repo_type="dataset")} - {*paths, _OF_THE_REPOSITORY}
        hub.create_commit(
            repository, repo_type="dataset", commit_message=message or "Export of demotape",
            operations=[*(CommitOperationDelete(path) for path in sorted(old)),
                        *(CommitOperationAdd(path, folder / path) for path in paths)])
    except LocalTokenNotFoundError:
        raise InputError(f"hf://{repository}: no token; set HF_TOKEN, or run `hf auth login`") from None
    except HfHubHTTPError as error:
        why = error.server_message or f"answer {error.response.status_code}"
        raise InputError(f"hf://{repository}: {endpoint} says: {why}") from error
    except InputError:
        raise
    except Exception as error:  # of the library's own HTTP client
        raise InputError(f"hf://{repository}: {endpoint} cannot be reached ({type(error).__name__})") from error
    return len(old)
