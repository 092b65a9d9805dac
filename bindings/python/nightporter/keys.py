"""Keys of sealed stores."""

from __future__ import annotations

from os import PathLike

from ._calls import unwrap
from ._library import library, text
from .errors import ProtocolError


def derive_key(path: str | PathLike[str], passphrase: str) -> str:
    """The raw key, x'…', of the store that was sealed with this passphrase: for the app's extension.

    `path` is a prefix, as for a controller; the store may be open. Takes some 0.1 s and 64 MB. Raises ChatError if
    there is no such store, or its key was made from another passphrase. `/_db encryption` changes the key.
    """
    loaded = library()
    key = unwrap(loaded.take(loaded.functions.np_derive_key(text(path), text(passphrase)))).get("storeKey")
    if not isinstance(key, str):
        raise ProtocolError("the answer holds no key")
    return key
