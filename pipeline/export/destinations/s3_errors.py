"""Errors of S3, in one sentence with a remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from schemas import DemotapeError, InputError

_WRONG_KEYS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "AuthFailure",
               "InvalidClientTokenId")
_FORBIDDEN = ("AccessDenied", "403", "Forbidden", "AllAccessDisabled")


class NoAnswer(DemotapeError):
    """The service does not answer, or answers that it cannot now."""


@contextmanager
def explain_errors(where: str, again: str = "run the export again to resume") -> Iterator[None]:
    """Turn botocore's exceptions, and urllib3's below it, into ours; `where` is the address that was worked on, `again`
    what mends a failure."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        ConnectionError,
        HTTPClientError,
        IncompleteReadError,
        NoCredentialsError,
        PartialCredentialsError,
    )
    from urllib3.exceptions import HTTPError  # botocore reads the rest of an answer without looking for these

    try:
        yield
    except ClientError as error:
        raise _answer_reason(where, error, again) from None
    except (NoCredentialsError, PartialCredentialsError):
        raise InputError(f"{where}: no S3 credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") \
            from None
    except (ConnectionError, HTTPClientError, HTTPError, IncompleteReadError) as error:
        raise NoAnswer(f"{where}: the S3 service does not respond ({_first_line(error)}); check --endpoint-url and "
                       f"the network, then {again}") from None
    except (BotoCoreError, ValueError) as error:
        raise InputError(f"{where}: {_first_line(error)}") from None


def _answer_reason(where: str, error, again: str) -> DemotapeError:
    """The error for what the service answered."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code == "NoSuchBucket":
        return InputError(f"{where}: unknown bucket; create it first, or check --endpoint-url")
    if code in _WRONG_KEYS:
        return InputError(f"{where}: the S3 service rejects the credentials ({code}); check AWS_ACCESS_KEY_ID and "
                          "AWS_SECRET_ACCESS_KEY")
    if code in _FORBIDDEN:
        return InputError(f"{where}: the credentials do not allow {error.operation_name} ({code})")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    kind = NoAnswer if status >= 500 or status == 429 else DemotapeError
    return kind(f"{where}: the S3 service responds with {code or 'an error'} to {error.operation_name}, after "
                f"retries; {again}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
