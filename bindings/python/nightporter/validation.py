"""Pure functions that validate text, without a controller."""

from __future__ import annotations

from typing import Any

from ._calls import decode
from ._library import library, text


def parse_markdown(source: str) -> dict[str, Any]:
    """Returns {"formattedText": […]}, or {} if the text has no markdown."""
    loaded = library()
    return decode(loaded.take(loaded.functions.chat_parse_markdown(text(source))))


def parse_server(address: str) -> dict[str, Any]:
    """Returns {"serverAddress": …, "parseError": ""} for the address of a notification server, `ntf:…`, or of a relay in
    a file, `embedded:<path>` or an absolute path. Anything else gives only {"parseError": …}, also the address of a
    relay on the network.
    """
    loaded = library()
    return decode(loaded.take(loaded.functions.chat_parse_server(text(address))))


def parse_uri(uri: str, *, safe: bool = False) -> dict[str, Any]:
    """Returns {"uriInfo": {"scheme", "sanitized"}, "parseError": ""}. Removes known trackers; without `safe`, also
    every parameter that is not known to be needed.
    """
    loaded = library()
    return decode(loaded.take(loaded.functions.chat_parse_uri(text(uri), safe)))


def password_hash(password: str, salt: str) -> str:
    """Returns the hash of a hidden profile's password with its salt, both base64url."""
    loaded = library()
    return loaded.take(loaded.functions.chat_password_hash(text(password), text(salt)))


def valid_name(name: str) -> str:
    """Returns the nearest valid display name, or "" if nothing is left of it."""
    loaded = library()
    return loaded.take(loaded.functions.chat_valid_name(text(name)))


def json_length(source: str) -> int:
    """Returns the length in bytes of the text as a JSON string, without its quotes."""
    length: int = library().functions.chat_json_length(text(source))
    return length
