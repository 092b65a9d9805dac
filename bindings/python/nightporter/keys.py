"""Keys of sealed stores."""

from __future__ import annotations

from os import PathLike

from ._calls import check, unwrap
from ._library import library, text
from .errors import ProtocolError


def derive_key(path: str | PathLike[str], passphrase: str) -> str:
    """Returns the raw key, x'…', of the store sealed with this passphrase, for the app's extension.

    `path` is a prefix, as for a controller; the store may be open. Takes about 0.1 s and 64 MB. Raises ChatError if
    there is no such store, or it was sealed with another passphrase. `/_db encryption` changes the key.
    """
    loaded = library()
    key = unwrap(loaded.take(loaded.functions.np_derive_key(text(path), text(passphrase)))).get("storeKey")
    if not isinstance(key, str):
        raise ProtocolError("the answer holds no key")
    return key


def set_cipher(name: str) -> None:
    """Chooses the cipher of the stores that this process creates, or whose keys it changes, from now on.

    "AEGIS-256", "XChaCha20-Poly1305", or "fastest", the default. Raises CallError for another name, or for a cipher
    that the linked libsodium lacks.
    """
    check(library().functions.np_set_cipher(text(name)), "np_set_cipher")
