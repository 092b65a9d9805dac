"""The texts of notifications."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._calls import unwrap
from ._library import library, text

# The text for each phrase of spec/protocol/strings.md, or its text for each CLDR plural category.
StringForms = Mapping[str, str | Mapping[str, str]]


def string_table(language: str | None, strings: StringForms | None) -> str:
    """Encodes a table for the library. A table without language and strings removes the current one."""
    table: dict[str, object] = {}
    if language is not None:
        table["language"] = language
    if strings is not None:
        table["strings"] = {key: form if isinstance(form, str) else dict(form) for key, form in strings.items()}
    return json.dumps(table, ensure_ascii=False)


def set_strings(language: str | None = None, strings: StringForms | None = None) -> None:
    """Chooses the language of notifications, and replaces texts, for all controllers of this process that have no
    texts of their own.

    English (`en`), Arabic (`ar`) and Japanese (`ja`) ship with the library. `strings` has the texts of other languages
    by phrase: `{"%d new messages": {"one": "%d neue Nachricht", "other": "%d neue Nachrichten"}}`. A call without
    arguments removes the texts. Raises ChatError with the code `stringsInvalid` for an invalid table, which is refused
    as a whole.
    """
    loaded = library()
    unwrap(loaded.take(loaded.functions.np_set_strings(None, text(string_table(language, strings)))))
