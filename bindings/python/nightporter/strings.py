"""The texts of notifications."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._calls import unwrap
from ._library import library, text

# For each phrase of spec/protocol/strings.md its text, or its text for each plural category of CLDR.
StringForms = Mapping[str, str | Mapping[str, str]]


def string_table(language: str | None, strings: StringForms | None) -> str:
    """The form in which the library takes a table. Without language and strings it takes one away."""
    table: dict[str, object] = {}
    if language is not None:
        table["language"] = language
    if strings is not None:
        table["strings"] = {key: form if isinstance(form, str) else dict(form) for key, form in strings.items()}
    return json.dumps(table, ensure_ascii=False)


def set_strings(language: str | None = None, strings: StringForms | None = None) -> None:
    """Chooses the language of notifications, and replaces texts, for all controllers of this process that were given none
    of their own.

    English (`en`), Arabic (`ar`) and Japanese (`ja`) ship. `strings` has the texts of other languages by phrase:
    `{"%d new messages": {"one": "%d neue Nachricht", "other": "%d neue Nachrichten"}}`. Without arguments the texts
    are taken away. Raises ChatError with the code `stringsInvalid` for a table with a mistake; nothing of it is taken.
    """
    loaded = library()
    unwrap(loaded.take(loaded.functions.np_set_strings(None, text(string_table(language, strings)))))
