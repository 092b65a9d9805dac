"""Nightporter, the notification core for end-to-end encrypted apps, for Python.

`Controller` is for asyncio, `SyncController` for programs without an event loop; `nightporter.machines` has the state
machines as pure functions, `nightporter.protocol` the types of all answers and events. The library is searched for in
NIGHTPORTER_LIBRARY, next to this package, and in the system.
"""

from . import machines, protocol, validation
from ._callbacks import disable_logging, enable_logging
from ._calls import Confirm, Role
from ._interface import ErrorCode, Phase
from ._library import library
from .controller import Controller, Events
from .errors import (
    ArgumentError,
    CallError,
    ChatError,
    ControllerClosed,
    LibraryError,
    MigrationError,
    NightporterError,
    ProtocolError,
    StateError,
    StoreError,
)
from .keys import derive_key, set_cipher
from .network import Relay
from .notifications import categories, push_is_silent
from .strings import set_strings
from .synchronous import SyncController

__all__ = [
    "ArgumentError",
    "CallError",
    "ChatError",
    "Confirm",
    "Controller",
    "ControllerClosed",
    "ErrorCode",
    "Events",
    "LibraryError",
    "MigrationError",
    "NightporterError",
    "Phase",
    "ProtocolError",
    "Relay",
    "Role",
    "StateError",
    "StoreError",
    "SyncController",
    "categories",
    "derive_key",
    "disable_logging",
    "enable_logging",
    "library_version",
    "machines",
    "protocol",
    "push_is_silent",
    "set_cipher",
    "set_strings",
    "validation",
]


def library_version() -> str:
    """The version of the loaded C library."""
    return library().version()
