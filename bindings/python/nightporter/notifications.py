"""What a host asks about notifications without a controller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any, cast

from ._calls import decode
from ._library import library, text
from .protocol import Categories


def categories() -> Categories:
    """The categories of notifications with their actions, in the language of the process (`set_strings`)."""
    loaded = library()
    return cast(Categories, decode(loaded.take(loaded.functions.np_categories(None))))


def push_is_silent(path: str | PathLike[str], payload: str | bytes | Mapping[str, Any]) -> bool:
    """Whether nothing may be shown for this push although the store at `path` did not open.

    True if all that the push is about is muted or hidden, or a chat that notifies of mentions only; then the notice of
    the MigrationError is not to be shown. False otherwise, also if that is not known. Needs no controller.
    """
    encoded = text(payload if isinstance(payload, str | bytes) else json.dumps(payload))
    return library().functions.np_push_is_silent(text(path), encoded) != 0
