"""The synchronous form: the same controller for programs without an event loop."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Self, cast

from ._calls import Calls, Confirm, Role, unwrap
from ._interface import Phase
from .errors import ControllerClosed
from .network import Relay
from .protocol import Categories, Event, PushAnswer, Response, Response_notificationResponse, State
from .strings import StringForms, string_table


class SyncController:
    """One engine with one store. Every method blocks until it is done, and may be called from any thread.

        with SyncController("/data/alice") as c:
            c.send("/_start")
            for event in c.events():
                print(event["type"])

    Closing stops, drains and closes as `Controller` does. It may be called from a thread other than the one that waits
    for events: the iteration then ends after the remaining events.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        key: str = "",
        keep_key: bool = False,
        role: Role = Role.APP,
        confirm: Confirm = Confirm.YES_UP,
        relay: Relay | str | None = None,
    ) -> None:
        """`path` is a prefix: the store's file is `<path>_chat.db`. Nothing is opened before `open()`. All else is as in
        `Controller`.
        """
        self._arguments = (path, key, keep_key, confirm, role, relay)
        self._calls: Calls | None = None
        self._wake_read = self._wake_write = -1

    # Opening and closing

    def open(self) -> Self:
        """Opens the store, creating or migrating it. Raises MigrationError if that is refused."""
        if self._calls is not None:
            raise RuntimeError("a controller is opened once")
        self._calls = Calls.open(*self._arguments)
        self._wake_read, self._wake_write = os.pipe()
        return self

    def close(self) -> None:
        """Stops, drains and closes. Calling it again, from any thread, waits for the first."""
        calls = self._calls
        if calls is None:
            return
        if not calls.shut():
            calls.wait_closed(None)
            return
        # One byte stays in the pipe and wakes every thread that waits for an event.
        os.write(self._wake_write, b"\0")
        try:
            calls.finish()
        finally:
            os.close(self._wake_read)
            os.close(self._wake_write)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        calls = getattr(self, "_calls", None)
        if calls is not None and not calls.is_closed:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
            os.close(self._wake_read)
            os.close(self._wake_write)

    @property
    def is_closed(self) -> bool:
        """True after `close()`, and before `open()`."""
        return self._calls is None or self._calls.is_shut

    # Commands

    def send(self, command: str, *, retry: int = 0) -> Response:
        """Carries out one command; raises ChatError if it is refused. `retry` lengthens the network's time-outs."""
        return self._open_calls().send(command, retry)

    def set_phase(self, phase: Phase) -> None:
        """Reports the platform's state of the process. Raises StateError if the machines refuse it."""
        self._open_calls().set_phase(phase)

    def activate(self) -> None:
        """On screen, or about to be."""
        self.set_phase(Phase.ACTIVE)

    def suspend(self, within: float = 0) -> None:
        """Suspends. With 0 the store is quiescent when this returns. Otherwise work in progress may take `within`
        seconds, and the event `chatSuspended` reports the end.
        """
        if within <= 0:
            self.set_phase(Phase.SUSPENDED)
        else:
            self.send(f"/_app suspend {round(within * 1_000_000)}")

    def state(self) -> State:
        """The state, without changing anything: role, quiescent, holds, machines, unread, …"""
        return self._open_calls().state()

    def close_store(self) -> None:
        """Closes the store's files; the controller stays. Nothing is open or locked afterwards."""
        self._open_calls().close_store()

    def reopen_store(self) -> None:
        """Opens the files again."""
        self._open_calls().reopen_store()

    def set_key(self, key: str, *, keep_key: bool = False) -> None:
        """Gives the key for the next opening of the store; with `keep_key` for each later one too. For a controller
        whose key was not kept, or whose store the app has sealed with another one. Opens nothing.
        """
        self._open_calls().set_key(key, keep_key)

    def change_key(self, current: str, new: str) -> None:
        """Gives the store another key, its first (`current` is ""), or none. In the app, while the chat is not running;
        what `/_db encryption` does. Raises ChatError if that is refused; then nothing has changed.
        """
        self._open_calls().change_key(current, new)

    def set_strings(self, language: str | None = None, strings: StringForms | None = None) -> None:
        """Chooses the language of notifications and replaces texts; see `nightporter.set_strings`. An app's are stored,
        so that its extension has them too. Raises ChatError with the code `stringsInvalid` for a table with a mistake.
        """
        self._open_calls().set_strings(string_table(language, strings))

    def set_relay(self, exchange: Callable[[bytes, float], bytes]) -> None:
        """Reaches the relay through `exchange(request, timeout)`, called on threads of the library's, several at the
        same time: what one push waits for keeps no other waiting. Before `/_start` only.
        """
        self._open_calls().set_relay(exchange)

    def relay_ready(self) -> None:
        """Reports that, as the host's transport learned, something is waiting at the relay. Does not wait."""
        self._open_calls().relay_ready()

    # Pushes

    def receive_push(self, payload: str | bytes | Mapping[str, Any], *, deadline: float = 25) -> PushAnswer:
        """Processes one push and returns within `deadline` seconds what to show."""
        return self._open_calls().receive_push(payload, deadline)

    def background_refresh(self, *, deadline: float = 25) -> PushAnswer:
        """Does one round in the background, for an app that the system has woken: looks into every mailbox and returns within
        `deadline` seconds what to show, and as `nextRefreshMs` when the next round is due. Needs no `/_start` before.
        """
        return self._open_calls().background_refresh(deadline)

    def expire_push(self) -> bool:
        """The platform's "time is up", from another thread: the push in progress answers immediately. False if there is
        none.
        """
        return self._open_calls().expire_push()

    # What the user does with notifications

    def categories(self) -> Categories:
        """The categories of notifications with their actions, in this controller's language."""
        return self._open_calls().categories()

    def notification_response(self, response: str | Mapping[str, Any]) -> Response_notificationResponse:
        """Reports what the user did with a notification: `actionIdentifier` as `categories()` has it (left out for a
        tap), `identifier`, `userInfo` and `targetContentIdentifier` as they were in the notification, and `userText` of
        a reply. It is stored when this returns, and carried out once; the event `ntfResponse` says how it ended. Raises
        ChatError if it is not a response, or cannot be stored now.
        """
        return self._open_calls().notification_response(response)

    # Events

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """The events from now on, until the controller is closed and has no more, or none came for `timeout` seconds.

        An error that comes as an event is raised as ChatError; call this again to continue after it.
        """
        while True:
            try:
                event = self.next_event(timeout)
            except ControllerClosed:
                return
            if event is None:
                return
            yield event

    def next_event(self, timeout: float | None = None) -> Event | None:
        """The next event; None if none came for `timeout` seconds (None: no limit). Raises ControllerClosed when the
        controller is closed and has no more. Responds to signals while it waits.
        """
        calls = self._calls
        if calls is None:
            raise ControllerClosed("the controller was not opened")
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                envelope = calls.take_event()
                if envelope is not None:
                    return cast(Event, unwrap(envelope))
                remaining = None if end is None else end - time.monotonic()
                if remaining is not None and remaining <= 0:
                    return None
                calls.wait_event(self._wake_read, remaining)
            except ControllerClosed:
                if calls.is_closed and not calls.has_events_left:
                    raise
                if not calls.wait_closed(None if end is None else max(0, end - time.monotonic())):
                    return None

    def _open_calls(self) -> Calls:
        if self._calls is None:
            raise ControllerClosed("the controller was not opened")
        return self._calls
