"""What a host registers with its platform before it shows notifications."""

from __future__ import annotations

from typing import cast

from ._calls import decode
from ._library import library
from .protocol import Categories


def categories() -> Categories:
    """The categories of notifications with their actions, in the language of the process (`set_strings`)."""
    loaded = library()
    return cast(Categories, decode(loaded.take(loaded.functions.np_categories(None))))
