"""Tracks the calls in progress on a controller, so that closing it waits for them and refuses new ones."""

from __future__ import annotations

import threading
from types import TracebackType

from .errors import ControllerClosed


class Gate:
    """Counts the calls in progress. Once shut it refuses new ones, and signals when the last has ended.

    Use it as a context manager around each call. Safe from any thread; only `wait_empty` waits.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._is_shut = False

    def __enter__(self) -> None:
        with self._condition:
            if self._is_shut:
                raise ControllerClosed("the controller is closed")
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    @property
    def is_shut(self) -> bool:
        return self._is_shut

    def shut(self) -> bool:
        """Refuses new calls. Returns True the first time."""
        with self._condition:
            first = not self._is_shut
            self._is_shut = True
            return first

    def wait_empty(self, timeout: float) -> bool:
        """Waits at most `timeout` seconds until no call is in progress; returns whether none is."""
        with self._condition:
            return self._condition.wait_for(lambda: self._inside == 0, timeout)
