"""The calls on one controller: checked, decoded, and shut down in order. They block; both controllers build on them."""

from __future__ import annotations

import ctypes
import json
import os
import select
import threading
import weakref
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from os import PathLike
from typing import Any, cast

from . import _callbacks, network
from ._gate import Gate
from ._interface import ErrorCode, Phase
from ._library import Library, library, text
from .errors import ArgumentError, ChatError, ControllerClosed, MigrationError, ProtocolError, StoreError, check
from .protocol import Categories, PushAnswer, Response, Response_notificationResponse, State


class Role(IntEnum):
    """A host's role towards the store."""

    APP = 0
    EXTENSION = 1
    SHARE = 2


class Confirm(StrEnum):
    """What to do if the store needs a migration; an extension never migrates, whatever the value."""

    YES_UP = "yesUp"
    YES_UP_DOWN = "yesUpDown"
    CONSOLE = "console"
    ERROR = "error"


# How often closing repeats np_expire_push() until no push is in progress, in seconds.
EXPIRE_INTERVAL = 0.01

# The library's name for the background refresh in progress, among those of pushes.
REFRESH = "np:refresh"


class Calls:
    """One controller's handle and the calls on it. Safe from any thread."""

    def __init__(self, loaded: Library, handle: int) -> None:
        self._library = loaded
        self._handle = handle
        self._gate = Gate()
        self._closed = threading.Event()
        self._relay: _callbacks.Relay | None = None
        # Held while the events left by closing are read, so that none is read from a freed handle.
        self._reading_rest = threading.Lock()
        _open.add(self)
        # Without close(), or with events left that no consumer reads, the controller is freed when the object is
        # collected or the interpreter exits.
        self._free = weakref.finalize(self, loaded.functions.np_ctrl_free, handle)
        self.event_fd: int = loaded.functions.np_event_fd(handle)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        key: str,
        keep_key: bool,
        confirm: Confirm,
        role: Role,
        relay: network.Relay | str | None = None,
    ) -> Calls:
        loaded = library()
        handle = ctypes.c_void_p()
        answer = loaded.take(
            loaded.functions.chat_migrate_init_key(
                text(path), text(key), keep_key, text(confirm.value), role.value, ctypes.byref(handle)
            )
        )
        result = decode(answer)
        if result.get("type") != "ok":
            raise MigrationError(result)
        if not handle.value:
            raise ProtocolError("the store was opened, but no handle given")
        calls = cls(loaded, handle.value)
        chosen = network.Relay.of(relay)
        if chosen is not None:
            try:
                calls.set_network_relay(chosen, listens=role == Role.APP)
            except BaseException:
                calls.shut()
                try:
                    calls.finish()
                finally:
                    calls.free()
                raise
        return calls

    # Commands and events

    def send(self, command: str, retry: int) -> Response:
        with self._gate:
            call = self._library.functions.chat_send_cmd_retry
            answer = self._library.take(call(self._handle, text(command), retry))
        return cast(Response, unwrap(answer))

    def take_event(self) -> str | None:
        """Returns the next event's envelope without waiting, or None if no event is ready. Raises ControllerClosed at
        the end.

        An event passes from the library to the caller in one step, which a cancellation cannot interrupt.
        """
        if self._closed.is_set():
            return self._take_rest()
        with self._gate:
            return self._receive()

    def _take_rest(self) -> str:
        """Returns the next of the events left by closing. They wait in the library, which counts an event as delivered
        when it is read: what is never read comes again after the next start. The last one frees the controller.
        """
        with self._reading_rest:
            if self._free.alive:
                event = self._receive()
                if event is not None:
                    return event
                self._free()
        raise ControllerClosed("the controller is closed and has no more events")

    def _receive(self) -> str | None:
        functions = self._library.functions
        return self._library.take(functions.chat_recv_msg_wait(self._handle, 0)) or None

    def wait_event(self, wake: int, timeout: float | None) -> None:
        """Waits until an event may be ready, `wake` is readable, or `timeout` seconds have passed."""
        with self._gate:
            waiting = select.poll()
            waiting.register(self.event_fd, select.POLLIN)
            waiting.register(wake, select.POLLIN)
            waiting.poll(None if timeout is None else timeout * 1000)

    # Pushes

    def receive_push(
        self, payload: str | bytes | Mapping[str, Any], deadline: float, push_id: str | None = None
    ) -> PushAnswer:
        milliseconds = _push_deadline(deadline)
        encoded = text(payload if isinstance(payload, str | bytes) else json.dumps(payload))
        functions = self._library.functions
        with self._gate:
            if push_id is None:
                answer = self._library.take(functions.np_receive_push(self._handle, encoded, milliseconds))
            else:
                name = text(push_id)
                answer = self._library.take(functions.np_receive_push_id(self._handle, name, encoded, milliseconds))
        return cast(PushAnswer, unless_error(answer))

    def background_refresh(self, deadline: float) -> PushAnswer:
        milliseconds = _push_deadline(deadline)
        with self._gate:
            answer = self._library.take(self._library.functions.np_background_refresh(self._handle, milliseconds))
        return cast(PushAnswer, unless_error(answer))

    def expire_push(self, push_id: str | None = None) -> bool:
        """Ends the oldest push in progress, or those with this name; returns False if there are none."""
        with self._gate:
            if push_id is None:
                return self._expire()
            code = self._library.functions.np_expire_push_id(self._handle, text(push_id))
        if code == ErrorCode.NOTHING_PENDING:
            return False
        check(code, "np_expire_push_id")
        return True

    def _expire(self) -> bool:
        code = self._library.functions.np_expire_push(self._handle)
        if code == ErrorCode.NOTHING_PENDING:
            return False
        check(code, "np_expire_push")
        return True

    def _expire_all(self) -> None:
        while self._expire():
            pass  # Each call ends one push, the oldest.

    # The user's actions on notifications

    def notification_response(self, response: str | Mapping[str, Any]) -> Response_notificationResponse:
        encoded = text(response if isinstance(response, str) else json.dumps(response))
        with self._gate:
            answer = self._library.take(self._library.functions.np_notification_response(self._handle, encoded))
        return cast(Response_notificationResponse, unwrap(answer))

    def categories(self) -> Categories:
        with self._gate:
            answer = self._library.take(self._library.functions.np_categories(self._handle))
        return cast(Categories, unless_error(answer))

    # Phases, state, store

    def set_phase(self, phase: Phase) -> None:
        with self._gate:
            check(self._library.functions.np_set_phase(self._handle, phase), "np_set_phase")

    def state(self) -> State:
        with self._gate:
            answer = self._library.take(self._library.functions.np_state(self._handle))
        return cast(State, unless_error(answer))

    def set_key(self, key: str, keep_key: bool) -> None:
        with self._gate:
            check(self._library.functions.np_set_key(self._handle, text(key), keep_key), "np_set_key")

    def change_key(self, current: str, new: str) -> None:
        with self._gate:
            functions = self._library.functions
            unwrap(self._library.take(functions.np_change_key(self._handle, text(current), text(new))))

    def set_strings(self, table: str) -> None:
        with self._gate:
            unwrap(self._library.take(self._library.functions.np_set_strings(self._handle, text(table))))

    def close_store(self) -> None:
        with self._gate:
            self._store("chat_close_store")

    def reopen_store(self) -> None:
        with self._gate:
            self._store("chat_reopen_store")

    def _store(self, function: str) -> None:
        failure = self._library.take(getattr(self._library.functions, function)(self._handle))
        if failure:
            raise StoreError(failure)

    # Transport

    def set_relay(self, exchange: _callbacks.Exchange) -> None:
        with self._gate, _callbacks.relay(exchange) as relay:
            check(self._library.functions.np_set_relay(self._handle, ctypes.byref(relay)), "np_set_relay")
            self._relay = relay

    def set_network_relay(self, relay: network.Relay, *, listens: bool) -> None:
        with self._gate, network.transport(relay, self._library, self._handle, listens=listens) as made:
            check(self._library.functions.np_set_relay(self._handle, ctypes.byref(made)), "np_set_relay")

    def relay_ready(self) -> None:
        with self._gate:
            check(self._library.functions.np_relay_ready(self._handle), "np_relay_ready")

    # Closing

    @property
    def is_shut(self) -> bool:
        return self._gate.is_shut

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    @property
    def is_freed(self) -> bool:
        """True once closing has ended and no event is left to read."""
        return self._closed.is_set() and not self._free.alive

    def shut(self) -> bool:
        """Refuses new calls. Returns True the first time. Does not wait; `finish` does the rest."""
        return self._gate.shut()

    def abandon(self) -> None:
        """Leaves the controller to the parent, in a child made by fork(). It counts as closed here, and every lock is
        replaced, since a thread of the parent may have held the old one.
        """
        self._free.detach()
        self._gate = Gate()
        self._gate.shut()
        self._reading_rest = threading.Lock()
        self._closed = threading.Event()
        self._closed.set()

    def finish(self) -> None:
        """Stops, drains and closes: after `shut`, ends the pushes in progress, waits for the calls in progress, and
        closes the store. Frees the controller if no event waits; otherwise `take_event` does so after the last one.

        Raises StoreError if the store could not be closed. The controller is freed then, since that closes the store
        too, and its events can no longer be read.
        """
        if self._closed.is_set():
            return
        self._expire_all()
        while not self._gate.wait_empty(EXPIRE_INTERVAL):
            self._expire_all()
        keeps_events = False
        try:
            self._store("chat_close_store")
            keeps_events = self._has_events()
        finally:
            if not keeps_events:
                self._free()
            if self._relay is not None:
                _callbacks.forget(self._relay)
            self._closed.set()

    def _has_events(self) -> bool:
        waiting = select.poll()
        waiting.register(self.event_fd, select.POLLIN)
        return bool(waiting.poll(0))

    def free(self) -> None:
        """Frees the controller, after `finish`, even if events are left; those are not counted as delivered."""
        with self._reading_rest:
            self._free()

    def wait_closed(self, timeout: float | None) -> bool:
        return self._closed.wait(timeout)


_open: weakref.WeakSet[Calls] = weakref.WeakSet()


def _abandon_all() -> None:
    for calls in list(_open):
        calls.abandon()


os.register_at_fork(after_in_child=_abandon_all)


def _push_deadline(seconds: float) -> int:
    """The deadline in milliseconds."""
    milliseconds = round(seconds * 1000)
    if not 1 <= milliseconds <= 30_000:
        raise ArgumentError("a push's deadline is from 0.001 to 30 seconds")
    return milliseconds


def decode(answer: str) -> dict[str, Any]:
    try:
        value = json.loads(answer)
    except ValueError as error:
        raise ProtocolError("an answer is not JSON") from error
    if not isinstance(value, dict):
        raise ProtocolError("an answer is not an object")
    return value


def unless_error(answer: str) -> dict[str, Any]:
    """Returns the answer unchanged; raises ChatError if it is an error."""
    value = decode(answer)
    if isinstance(value.get("error"), dict):
        raise ChatError(value["error"])
    return value


def unwrap(answer: str) -> dict[str, Any]:
    """Returns the result inside an envelope; raises its error."""
    envelope = decode(answer)
    result = envelope.get("result")
    if isinstance(result, dict):
        return result
    error = envelope.get("error")
    if isinstance(error, dict):
        raise ChatError(error)
    raise ProtocolError("an envelope has neither a result nor an error")
