"""Finds the C library, checks its ABI and gives its functions their types."""

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

# Names a path to the library's file, or to the folder that holds it. If it is set, no other place is searched.
ENVIRONMENT = "NIGHTPORTER_LIBRARY"
FILE_NAME = "libnightporter.dylib" if sys.platform == "darwin" else "libnightporter.so"


class Library:
    """The loaded library. Its functions may be called from any thread; ctypes lets other threads run meanwhile."""

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
        """Copies a string that the library returned, and frees it."""
        if not address:
            raise MemoryError("Nightporter has no memory left")
        try:
            return ctypes.string_at(address).decode()
        finally:
            self.functions.np_string_free(address)


def text(value: str | bytes | os.PathLike[str]) -> bytes:
    """Text as the C interface takes it. Refuses text that would be cut off there or is not UTF-8."""
    try:
        encoded = value if isinstance(value, bytes) else os.fspath(value).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"not Unicode: {error.reason}") from None
    if b"\0" in encoded:
        raise ArgumentError("text for the C interface cannot hold a NUL")
    return encoded


def candidates() -> Iterator[str]:
    """Where the library may be, in the order of the search."""
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
    """The library, loaded at the first call."""
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
