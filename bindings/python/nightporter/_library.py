"""Finds the C library, checks its ABI, and sets the types of its functions."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from ._interface import ABI_VERSION, FUNCTIONS
from .errors import ArgumentError, LibraryError

# The path of the library's file, or of the folder that contains it. If set, no other place is searched.
ENVIRONMENT = "NIGHTPORTER_LIBRARY"
FILE_NAME = "libnightporter.dylib" if sys.platform == "darwin" else "libnightporter.so"


class Library:
    """The loaded library. Its functions may be called from any thread; ctypes releases the GIL during a call."""

    def __init__(self, path: str) -> None:
        try:
            self.functions = ctypes.CDLL(path)
        except OSError as error:
            raise LibraryError(f"{path} cannot be loaded: {error}") from error
        self.path = path
        try:
            self._check_abi()
            for name, (result, arguments) in FUNCTIONS.items():
                function = getattr(self.functions, name)
                function.restype, function.argtypes = result, arguments
        except AttributeError as error:
            raise LibraryError(f"{path} is not a whole Nightporter library: {error}") from error

    def _check_abi(self) -> None:
        found = self.functions.np_abi_version()
        if found != ABI_VERSION:
            raise LibraryError(f"{self.path} has ABI {found}, this package needs {ABI_VERSION}")

    def version(self) -> str:
        text: bytes = self.functions.np_version()
        return text.decode()

    def take(self, address: int | None) -> str:
        """Copies and frees a string returned by the library."""
        if not address:
            raise MemoryError("Nightporter has no memory left")
        try:
            return ctypes.string_at(address).decode()
        finally:
            self.functions.np_string_free(address)


def text(value: str | bytes | os.PathLike[str]) -> bytes:
    """Encodes text for the C interface. Refuses text that would be cut off there or is not Unicode."""
    try:
        encoded = value if isinstance(value, bytes) else os.fspath(value).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"not Unicode: {error.reason}") from None
    if b"\0" in encoded:
        raise ArgumentError("text for the C interface cannot hold a NUL")
    return encoded


def candidates() -> Iterator[str]:
    """The places where the library may be, in search order."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        yield os.path.join(chosen, FILE_NAME) if os.path.isdir(chosen) else chosen
        return
    beside = Path(__file__).with_name(FILE_NAME)
    if beside.exists():
        yield str(beside)
    system = ctypes.util.find_library("nightporter")
    if system:
        yield system


_loaded: Library | None = None
_loading = threading.Lock()


def library() -> Library:
    """The library, loaded on the first call."""
    global _loaded
    with _loading:
        if _loaded is None:
            path = next(candidates(), None)
            if path is None:
                raise LibraryError(
                    f"{FILE_NAME} was not found: "
                    f"set {ENVIRONMENT} to its path, put it beside the package, or install it"
                )
            _loaded = Library(path)
        return _loaded
