"""A relay on the network, through libnightporter-net: its address, and the options for reaching it."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ._interface import ErrorCode, LogSink
from ._interface import Relay as RelayStructure
from ._library import Library, text
from .errors import LibraryError, check

# The address of the relay for controllers opened without one.
ADDRESS = "NIGHTPORTER_RELAY"
# The path of the library's file, or of the folder that contains it. If set, no other place is searched.
ENVIRONMENT = "NIGHTPORTER_NET_LIBRARY"
FILE_NAME = "libnightporter-net.dylib" if sys.platform == "darwin" else "libnightporter-net.so"


@dataclass(frozen=True)
class Relay:
    """A relay on the network; `nightporter_net.h` describes the options in detail.

    `url` is what `porter-relay address` prints: https://HOST[:PORT][#FINGERPRINT[,FINGERPRINT]]. `proxy` is
    "http://HOST:PORT" or "socks5h://HOST:PORT"; the proxy resolves the relay's name. `isolate` sends a SOCKS proxy
    random credentials, so that Tor gives this controller its own circuits. `ca_file` replaces the system's certificate
    authorities. `connect_timeout` is in seconds.
    """

    url: str
    proxy: str | None = None
    isolate: bool = False
    ca_file: str | os.PathLike[str] | None = None
    connect_timeout: float = 10

    @classmethod
    def of(cls, relay: Relay | str | None) -> Relay | None:
        """The relay given, else the one in the environment, if that is an address and not a file."""
        if isinstance(relay, Relay):
            return relay
        url = relay if relay is not None else os.environ.get(ADDRESS, "")
        return cls(url) if relay is not None or url.startswith("https://") else None


class Options(ctypes.Structure):
    """np_net_options."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("ready", ctypes.c_void_p),
        ("ready_context", ctypes.c_void_p),
        ("log", LogSink),
        ("log_context", ctypes.c_void_p),
        ("proxy", ctypes.c_char_p),
        ("ca_file", ctypes.c_char_p),
        ("isolate", ctypes.c_int),
        ("connect_timeout_ms", ctypes.c_int),
    ]


def candidates(beside: str) -> Iterator[str]:
    """The places where the library may be, in search order."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        yield os.path.join(chosen, FILE_NAME) if os.path.isdir(chosen) else chosen
        return
    folders = [Path(__file__).parent]
    # A bare name was found by the system's loader: its folder is unknown, and is not the working directory.
    if os.path.dirname(beside):
        folders.insert(0, Path(beside).resolve().parent)
    for folder in folders:
        if (folder / FILE_NAME).exists():
            yield str(folder / FILE_NAME)
    system = ctypes.util.find_library("nightporter-net")
    if system:
        yield system


_loaded: ctypes.CDLL | None = None
_loading = threading.Lock()


def net_library(beside: str) -> ctypes.CDLL:
    """The library, loaded on the first call."""
    global _loaded
    with _loading:
        if _loaded is None:
            path = next(candidates(beside), None)
            if path is None:
                raise LibraryError(f"{FILE_NAME} was not found: set {ENVIRONMENT} to its path, or install it")
            try:
                loaded = ctypes.CDLL(path)
                loaded.np_net_relay.restype = ErrorCode
                loaded.np_net_relay.argtypes = [
                    ctypes.c_char_p, ctypes.POINTER(Options), ctypes.POINTER(RelayStructure),
                ]  # fmt: skip
                loaded.np_net_relay_free.restype = None
                loaded.np_net_relay_free.argtypes = [ctypes.POINTER(RelayStructure)]
            except (OSError, AttributeError) as error:
                raise LibraryError(f"{path} cannot be used: {error}") from error
            _loaded = loaded
        return _loaded


@contextmanager
def transport(relay: Relay, library: Library, handle: int, *, listens: bool) -> Iterator[RelayStructure]:
    """The C structure for a transport. Frees it if the block fails. News go directly from one library to the other,
    without calling Python.
    """
    net = net_library(library.path)
    options = Options(size=ctypes.sizeof(Options), isolate=relay.isolate)
    options.connect_timeout_ms = round(relay.connect_timeout * 1000)
    options.proxy = None if relay.proxy is None else text(relay.proxy)
    options.ca_file = None if relay.ca_file is None else text(relay.ca_file)
    if listens:
        options.ready = ctypes.cast(library.functions.np_relay_ready, ctypes.c_void_p).value
        options.ready_context = handle
    made = RelayStructure()
    check(net.np_net_relay(text(relay.url), ctypes.byref(options), ctypes.byref(made)), "np_net_relay")
    try:
        yield made
    except BaseException:
        net.np_net_relay_free(ctypes.byref(made))
        raise
