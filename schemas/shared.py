"""Values that Python and JavaScript share, declared in shared.json.

`python -m schemas.write_shared` writes it where the extension and the capture script read it: extension/shared.js. A
test holds that file against this one.
"""

import json
from pathlib import Path
from typing import Any

SHARED: dict[str, Any] = json.loads(Path(__file__).with_name("shared.json").read_text(encoding="utf-8"))

UID_ATTRIBUTE: str = SHARED["uid_attribute"]
REDACTED: str = SHARED["redacted"]
SILENT_KEYS = frozenset[str](SHARED["silent_keys"])  # keys that make no action by themselves
DELETION_KEYS = frozenset[str](SHARED["deletion_keys"])
CONTROLS = frozenset[str](SHARED["controls"])  # tags
NOT_TYPED_IN = frozenset[str](SHARED["not_typed_in"])  # types of input
LIVE_LIST: dict[str, Any] = SHARED["live_list"]
SECRETS: dict[str, Any] = SHARED["secrets"]
SECRET_DIGESTS: dict[str, Any] = SHARED["secret_digests"]
