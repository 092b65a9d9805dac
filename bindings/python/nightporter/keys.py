"""Keys of sealed stores."""

from __future__ import annotations

from os import PathLike

from ._calls import check, unwrap
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


def set_cipher(name: str) -> None:
    """Chooses what the stores are sealed with that this process makes or gives another key from now on.

    "AEGIS-256", "XChaCha20-Poly1305", or "fastest", as long as nothing is chosen. Raises CallError for another name,
    or for a cipher that the linked libsodium does not have.
    """
    check(library().functions.np_set_cipher(text(name)), "np_set_cipher")
