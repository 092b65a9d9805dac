"""Questions about notifications that need no controller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any, cast

from ._calls import decode
from ._library import library, text
from .protocol import Categories


def categories() -> Categories:
    """Returns the notification categories with their actions, in the language of the process (`set_strings`)."""
    loaded = library()
    return cast(Categories, decode(loaded.take(loaded.functions.np_categories(None))))


def push_is_silent(path: str | PathLike[str], payload: str | bytes | Mapping[str, Any]) -> bool:
    """Whether to show nothing for this push, although the store at `path` did not open.

    True if every chat that the push is about is muted, hidden, or notifies of mentions only; then do not show the
    notice of the MigrationError. False otherwise, also if this is unknown. Needs no controller.
    """
    encoded = text(payload if isinstance(payload, str | bytes) else json.dumps(payload))
    return library().functions.np_push_is_silent(text(path), encoded) != 0
