"""The library's errors, as one hierarchy of exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._interface import ErrorCode


class NightporterError(Exception):
    """The base class of this package's exceptions."""


class LibraryError(NightporterError):
    """The C library was not found, could not be loaded, or has a different ABI from this package's."""


class ArgumentError(NightporterError, ValueError):
    """A value that the C interface cannot take: text with a NUL or a lone surrogate, or a number out of range."""


class ControllerClosed(NightporterError):
    """The controller is closed, or not opened yet. Events that were waiting when it closed can still be taken."""


class ProtocolError(NightporterError):
    """The library returned something that its interface does not describe."""


class MigrationError(NightporterError):
    """The store could not be opened. `result` is the library's DBMigrationResult, `kind` its `type`.

    `code` is Nightporter's stable name for the problem, such as `storeKeyWrong`, and `advice` says what to do about it;
    both are "" if the type says enough.
    """

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result
        self.kind = str(result.get("type", ""))
        self.code, self.advice = _code_and_advice(result)
        super().__init__(self.code or self.kind)


class StoreError(NightporterError):
    """The store could not be closed or reopened; the text is the library's."""


class ChatError(NightporterError):
    """A command was refused, or an error arrived as an event. `error` is the decoded ChatError.

    `kind` is the innermost type, such as `noActiveUser`, which is what most callers need. Errors without a type in
    SimpleX's taxonomy have a `code`, such as `notSupported`, and an `advice` that says what to do; otherwise both are
    "".
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.error = error
        self.kind = innermost_type(error)
        self.code, self.advice = _code_and_advice(error)
        super().__init__(self.code or self.kind)


class CallError(NightporterError):
    """A function returned an error code other than the one documented as harmless."""

    def __init__(self, code: int, function: str) -> None:
        self.code = ErrorCode(code) if code in set(ErrorCode) else code
        self.function = function
        name = self.code.name if isinstance(self.code, ErrorCode) else str(code)
        super().__init__(f"{function}: {name}")


class StateError(CallError):
    """The controller's machines refuse the call in their current states; `state()` shows them."""


def innermost_type(error: Mapping[str, Any]) -> str:
    """The type of the deepest error: {"type": "error", "errorType": {"type": "noActiveUser"}} is `noActiveUser`."""
    kind = error.get("type")
    for value in error.values():
        if isinstance(value, Mapping) and isinstance(value.get("type"), str):
            return innermost_type(value)
    return kind if isinstance(kind, str) else "unknown"


def _code_and_advice(error: Mapping[str, Any]) -> tuple[str, str]:
    """The code and advice in `np`, Nightporter's addition to an answer in SimpleX's format."""
    own = error.get("np")
    if not isinstance(own, Mapping):
        return "", ""
    return str(own.get("code", "")), str(own.get("advice", ""))


def check(code: int, function: str) -> None:
    """Raises for an np_error that is not NP_OK."""
    if code == ErrorCode.OK:
        return
    if code == ErrorCode.STATE:
        raise StateError(code, function)
    if code == ErrorCode.HANDLE:
        raise ControllerClosed(function)
    raise CallError(code, function)
