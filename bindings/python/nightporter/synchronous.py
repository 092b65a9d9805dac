"""The same controller for programs without an event loop."""

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
    """One engine with one store. Every method blocks until it is done; call it from any thread.

        with SyncController("/data/alice") as c:
            c.send("/_start")
            for event in c.events():
                print(event["type"])

    `close()` stops, drains and closes as in `Controller`. Another thread may call it while one waits for events: the
    iteration then ends after the remaining events. Those that are never read come again after the next start.
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
        """`path` is a prefix: the store's file is `<path>_chat.db`. Nothing is opened before `open()`. The other
        arguments are as in `Controller`.
        """
        self._arguments = (path, key, keep_key, confirm, role, relay)
        self._calls: Calls | None = None
        self._wake_read = self._wake_write = -1

    # Opening and closing

    def open(self) -> Self:
        """Opens the store, creating or migrating it as needed. Raises MigrationError if that is refused."""
        if self._calls is not None:
            raise RuntimeError("a controller is opened once")
        self._calls = Calls.open(*self._arguments)
        self._wake_read, self._wake_write = os.pipe()
        return self

    def close(self) -> None:
        """Stops, drains and closes. Another call, from any thread, waits for the first."""
        calls = self._calls
        if calls is None:
            return
        if not calls.shut():
            calls.wait_closed(None)
            return
        # The byte stays in the pipe and wakes every thread that waits for an event.
        os.write(self._wake_write, b"\0")
        try:
            calls.finish()
        finally:
            os.close(self._wake_read)
            os.close(self._wake_write)

    def discard_events(self) -> None:
        """Frees a closed controller although unread events wait, and with it a key that it keeps. What an app has received
        comes again after its next start. Does nothing before `close`.
        """
        if self._calls is not None and self._calls.is_closed:
            self._calls.free()

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
        """True before `open()` and once `close()` has been called."""
        return self._calls is None or self._calls.is_shut

    # Commands

    def send(self, command: str, *, retry: int = 0) -> Response:
        """Carries out one command; raises ChatError if it is refused. `retry` lengthens the network's time-outs."""
        return self._open_calls().send(command, retry)

    def set_phase(self, phase: Phase) -> None:
        """Reports the process's state on the platform. Raises StateError if the machines refuse it."""
        self._open_calls().set_phase(phase)

    def activate(self) -> None:
        """Reports that the app is on screen, or about to be."""
        self.set_phase(Phase.ACTIVE)

    def suspend(self, within: float = 0) -> None:
        """Suspends. With 0, the store is quiescent when this returns. Otherwise work in progress may take another
        `within` seconds, and the event `chatSuspended` reports that it has ended.
        """
        if within <= 0:
            self.set_phase(Phase.SUSPENDED)
        else:
            self.send(f"/_app suspend {round(within * 1_000_000)}")

    def state(self) -> State:
        """Returns the state, without changing anything: role, quiescent, holds, machines, unread, …"""
        return self._open_calls().state()

    def close_store(self) -> None:
        """Closes the store's files but keeps the controller. No file is open or locked afterwards."""
        self._open_calls().close_store()

    def reopen_store(self) -> None:
        """Reopens the store's files."""
        self._open_calls().reopen_store()

    def set_key(self, key: str, *, keep_key: bool = False) -> None:
        """Sets the key for the next opening of the store, and with `keep_key` for all later ones. Needed when the key
        was not kept, or the app has sealed the store with another one. Opens nothing.
        """
        self._open_calls().set_key(key, keep_key)

    def change_key(self, current: str, new: str) -> None:
        """Changes the store's key, seals a plain store (`current` is ""), or makes it plain (`new` is ""). Does what
        `/_db encryption` does: in the app, while the chat is not running. Raises ChatError if that is refused; nothing
        has changed then.
        """
        self._open_calls().change_key(current, new)

    def set_strings(self, language: str | None = None, strings: StringForms | None = None) -> None:
        """Chooses the language of notifications and replaces texts; see `nightporter.set_strings`. An app's texts are
        stored, so its extension has them too. Raises ChatError with the code `stringsInvalid` for an invalid table.
        """
        self._open_calls().set_strings(string_table(language, strings))

    def set_relay(self, exchange: Callable[[bytes, float], bytes]) -> None:
        """Reaches the relay through `exchange(request, timeout)`, called on the library's threads, several at the same
        time, so that no push waits for another's request. Only before `/_start`.
        """
        self._open_calls().set_relay(exchange)

    def relay_ready(self) -> None:
        """Reports that something is waiting at the relay, when the host's transport learns of it. Does not wait."""
        self._open_calls().relay_ready()

    # Pushes

    def receive_push(
        self, payload: str | bytes | Mapping[str, Any], *, deadline: float = 25, push_id: str | None = None
    ) -> PushAnswer:
        """Processes one push and returns what to show, within `deadline` seconds. Call it from as many threads as there
        are pushes: they run concurrently. `push_id` is any name but "np:refresh", for `expire_push`.
        """
        return self._open_calls().receive_push(payload, deadline, push_id)

    def background_refresh(self, *, deadline: float = 25) -> PushAnswer:
        """Runs one round in the background, when the system has woken an app: checks every mailbox and returns, within
        `deadline` seconds, what to show, and in `nextRefreshMs` when the next round is due. Needs no `/_start` first.
        """
        return self._open_calls().background_refresh(deadline)

    def expire_push(self, push_id: str | None = None) -> bool:
        """Reports the platform's "time is up", from another thread: the oldest push in progress, or those with this
        name, answer immediately. "np:refresh" is the name of the background refresh. Returns False if there are none.
        """
        return self._open_calls().expire_push(push_id)

    # The user's actions on notifications

    def categories(self) -> Categories:
        """Returns the notification categories with their actions, in this controller's language."""
        return self._open_calls().categories()

    def notification_response(self, response: str | Mapping[str, Any]) -> Response_notificationResponse:
        """Reports what the user did with a notification: `actionIdentifier` as in `categories()` (omitted for a tap),
        `identifier`, `userInfo` and `targetContentIdentifier` as in the notification, and `userText` for a reply. It is
        stored when this returns, and carried out once; the event `ntfResponse` reports the outcome. Raises ChatError if
        it is malformed or cannot be stored now.
        """
        return self._open_calls().notification_response(response)

    # Events

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Iterates over the events from now on. Ends when the controller is closed and has no more, or when none came
        for `timeout` seconds.

        An error event is raised as ChatError; call this again to continue after it.
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
        """Waits for the next event; returns None if none came for `timeout` seconds (None: no limit). Raises
        ControllerClosed when the controller is closed and has no more. Responds to signals while it waits.
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
                if calls.is_freed:
                    raise
                if not calls.wait_closed(None if end is None else max(0, end - time.monotonic())):
                    return None

    def _open_calls(self) -> Calls:
        if self._calls is None:
            raise ControllerClosed("the controller was not opened")
        return self._calls
