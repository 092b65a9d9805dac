"""The controller for asyncio: one engine on one event loop."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypeVar, TypeVarTuple, cast

from ._calls import EXPIRE_INTERVAL, REFRESH, Calls, Confirm, Role, unwrap
from ._interface import Phase
from .errors import ControllerClosed
from .network import Relay
from .protocol import Categories, Event, PushAnswer, Response, Response_notificationResponse, State
from .strings import StringForms, string_table

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

# The library carries out the calls on one controller one after the other, so more threads would only wait. The second
# allows `state()` to be called while a command is running.
THREADS = 2

# Pushes run concurrently, and a push's deadline begins when the library gets it, so none may wait for a thread. The
# library takes 64 at a time and answers one more immediately; the last thread is for that one.
PUSH_THREADS = 65


class Controller:
    """One engine with one store, for one event loop.

        async with Controller("/data/alice") as c:
            await c.send("/_start")
            async for event in c.events():
                print(event["type"])

    Blocking calls run on the controller's own threads, pushes on others than commands; events need no thread, since the
    loop waits on the library's descriptor. Leaving the block stops, drains and closes, in this order: new calls are
    refused, calls in progress finish, and the store is closed. Events that wait can still be read; those that are not
    come again after the next start. The controller is freed with the last event, or when the object is collected.

    Cancelling a task that waits for an event never loses one: an event leaves the library in the same step in which
    its consumer gets it.
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
        """`path` is a prefix: the store's file is `<path>_chat.db`. Nothing is opened before `open()`.

        `key` seals the store: a raw key, x'…' with 64 hexadecimal digits, or a passphrase, which an extension cannot
        use (`derive_key` returns its raw key). Without `keep_key` the library wipes the key once the store is open, and
        `set_key` must supply it before the store is reopened.

        `relay` is a relay on the network, or its address; the default is the address in NIGHTPORTER_RELAY, if any. An
        app then listens to the relay's news. For a relay in a file, use `/_network`.
        """
        self._arguments = (path, key, keep_key, confirm, role, relay)
        self._calls: Calls | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._push_executor: ThreadPoolExecutor | None = None
        self._closing: asyncio.Task[None] | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_reading = False
        self._unclaimed: list[PushAnswer] = []
        self._push_numbers = itertools.count()

    # Opening and closing

    async def open(self) -> Self:
        """Opens the store, creating or migrating it as needed. Raises MigrationError if that is refused."""
        if self._executor is not None:
            raise RuntimeError("a controller is opened once")
        self._loop = asyncio.get_running_loop()
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="nightporter")
        opening = self._loop.run_in_executor(self._executor, Calls.open, *self._arguments)
        try:
            self._calls = await to_the_end(opening)
        except BaseException:
            # Cancelled while opening: if the store is open by now, close it before the caller sees the cancellation.
            if opening.done() and not opening.cancelled() and opening.exception() is None:
                self._calls = opening.result()
                try:
                    await self.close()
                finally:
                    self._calls.free()
            else:
                self._executor.shutdown(wait=False)
            raise
        return self

    async def close(self) -> None:
        """Stops, drains and closes. Another call, from any task, waits for the first. Raises StoreError if the store
        did not close.
        """
        if self._calls is None:
            return
        loop = self._own_loop()
        if self._closing is None:
            self._calls.shut()
            self._stop_reading()
            self._closing = loop.create_task(self._finish(self._calls))
            self._wake()
        await to_the_end(self._closing)

    async def _finish(self, calls: Calls) -> None:
        assert self._executor is not None
        # On its own thread: the executor's may all be busy with calls that must end first.
        try:
            await to_the_end(asyncio.ensure_future(asyncio.to_thread(calls.finish)))
        finally:
            self._executor.shutdown(wait=False)
            if self._push_executor is not None:
                self._push_executor.shutdown(wait=False)

    async def discard_events(self) -> None:
        """Frees a closed controller although unread events wait, and with it a key that it keeps. What an app has received
        comes again after its next start. Does nothing before `close`.
        """
        if self._calls is not None and self._calls.is_closed:
            await asyncio.to_thread(self._calls.free)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        calls = getattr(self, "_calls", None)
        if calls is not None and not calls.is_closed:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)

    @property
    def is_closed(self) -> bool:
        """True before `open()` and once `close()` has been called."""
        return self._calls is None or self._calls.is_closed or self._closing is not None

    # Commands

    async def send(self, command: str, *, retry: int = 0) -> Response:
        """Carries out one command; raises ChatError if it is refused. A command that has begun is carried out even if
        the task waiting for it is cancelled. `retry` lengthens the network's time-outs.
        """
        return await self._off_loop(self._open_calls().send, command, retry)

    async def set_phase(self, phase: Phase) -> None:
        """Reports the process's state on the platform. Raises StateError if the machines refuse it."""
        await self._off_loop(self._open_calls().set_phase, phase)

    async def activate(self) -> None:
        """Reports that the app is on screen, or about to be."""
        await self.set_phase(Phase.ACTIVE)

    async def suspend(self, within: float = 0) -> None:
        """Suspends. With 0, the store is quiescent when this returns. Otherwise work in progress may take another
        `within` seconds, and the event `chatSuspended` reports that it has ended.
        """
        if within <= 0:
            await self.set_phase(Phase.SUSPENDED)
        else:
            await self.send(f"/_app suspend {round(within * 1_000_000)}")

    async def state(self) -> State:
        """Returns the state, without changing anything: role, quiescent, holds, machines, unread, …"""
        return await self._off_loop(self._open_calls().state)

    async def close_store(self) -> None:
        """Closes the store's files but keeps the controller. No file is open or locked afterwards."""
        await self._off_loop(self._open_calls().close_store)

    async def reopen_store(self) -> None:
        """Reopens the store's files."""
        await self._off_loop(self._open_calls().reopen_store)

    async def set_key(self, key: str, *, keep_key: bool = False) -> None:
        """Sets the key for the next opening of the store, and with `keep_key` for all later ones. Needed when the key
        was not kept, or the app has sealed the store with another one. Opens nothing.
        """
        self._open_calls().set_key(key, keep_key)

    async def change_key(self, current: str, new: str) -> None:
        """Changes the store's key, seals a plain store (`current` is ""), or makes it plain (`new` is ""). Does what
        `/_db encryption` does: in the app, while the chat is not running. Raises ChatError if that is refused; nothing
        has changed then.
        """
        await self._off_loop(self._open_calls().change_key, current, new)

    async def set_strings(self, language: str | None = None, strings: StringForms | None = None) -> None:
        """Chooses the language of notifications and replaces texts; see `nightporter.set_strings`. An app's texts are
        stored, so its extension has them too. Raises ChatError with the code `stringsInvalid` for an invalid table.
        """
        await self._off_loop(self._open_calls().set_strings, string_table(language, strings))

    async def set_relay(self, exchange: Callable[[bytes, float], Awaitable[bytes]]) -> None:
        """Reaches the relay through `exchange(request, timeout)`, which runs on this loop, with several calls in
        progress at the same time. Only before `/_start`.
        """
        loop = self._own_loop()

        def carry(request: bytes, timeout: float) -> bytes:
            async def bounded() -> bytes:
                async with asyncio.timeout(timeout):
                    return await exchange(request, timeout)

            return asyncio.run_coroutine_threadsafe(bounded(), loop).result()

        await self._off_loop(self._open_calls().set_relay, carry)

    def relay_ready(self) -> None:
        """Reports that something is waiting at the relay, when the host's transport learns of it. Does not wait."""
        self._open_calls().relay_ready()

    # Pushes

    async def receive_push(
        self, payload: str | bytes | Mapping[str, Any], *, deadline: float = 25, push_id: str | None = None
    ) -> PushAnswer:
        """Processes one push and returns what to show, within `deadline` seconds.

        Pushes run concurrently. `push_id` is any name but "np:refresh", for `expire_push`.

        If the waiting task is cancelled, the push is expired and its end awaited first. Its answer is then in
        `unclaimed_pushes()`, because a committed message must still be shown.
        """
        calls = self._open_calls()
        name = f"np:py:{next(self._push_numbers)}" if push_id is None else push_id
        return await self._push(calls, name, lambda: calls.receive_push(payload, deadline, name))

    async def background_refresh(self, *, deadline: float = 25) -> PushAnswer:
        """Runs one round in the background, when the system has woken an app: checks every mailbox and returns, within
        `deadline` seconds, what to show, and in `nextRefreshMs` when the next round is due. Needs no `/_start` first.
        Cancelling it works as for `receive_push`.
        """
        calls = self._open_calls()
        return await self._push(calls, REFRESH, lambda: calls.background_refresh(deadline))

    async def _push(self, calls: Calls, name: str, push: Callable[[], PushAnswer]) -> PushAnswer:
        if self._push_executor is None:
            self._push_executor = ThreadPoolExecutor(PUSH_THREADS, thread_name_prefix="nightporter-push")
        work = self._push_executor.submit(push)
        answer = asyncio.wrap_future(work)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if not work.cancel():
                await self._expire_until_done(calls, name, answer)
            raise

    async def _expire_until_done(self, calls: Calls, name: str, answer: asyncio.Future[PushAnswer]) -> None:
        async def expire() -> None:
            # Repeated, because the call may not have reached the library yet: then no push is in progress there.
            while not answer.done():
                with suppress(ControllerClosed):
                    await asyncio.to_thread(calls.expire_push, name)
                await asyncio.wait({answer}, timeout=EXPIRE_INTERVAL)
            if answer.exception() is None:
                self._unclaimed.append(answer.result())

        await to_the_end(asyncio.ensure_future(expire()), swallow=True)

    async def expire_push(self, push_id: str | None = None) -> bool:
        """Reports the platform's "time is up": the oldest push in progress, or those with this name, answer
        immediately. "np:refresh" is the name of the background refresh. Returns False if there are none.
        """
        # Not on the controller's threads, which may all be busy with commands.
        return await asyncio.to_thread(self._open_calls().expire_push, push_id)

    def unclaimed_pushes(self) -> list[PushAnswer]:
        """Returns the answers to pushes whose waiting tasks were cancelled, oldest first; each is returned once."""
        unclaimed, self._unclaimed = self._unclaimed, []
        return unclaimed

    # The user's actions on notifications

    async def categories(self) -> Categories:
        """Returns the notification categories with their actions, in this controller's language."""
        return await self._off_loop(self._open_calls().categories)

    async def notification_response(self, response: str | Mapping[str, Any]) -> Response_notificationResponse:
        """Reports what the user did with a notification: `actionIdentifier` as in `categories()` (omitted for a tap),
        `identifier`, `userInfo` and `targetContentIdentifier` as in the notification, and `userText` for a reply. It is
        stored when this returns, and carried out once; the event `ntfResponse` reports the outcome. Raises ChatError if
        it is malformed or cannot be stored now.
        """
        return await self._off_loop(self._open_calls().notification_response, response)

    # Events

    def events(self) -> AsyncIterator[Event]:
        """Iterates over the events from now on, until the controller is closed and has no more. With several iterators,
        each event goes to one of them. An error event is raised as ChatError; iteration can continue after it.
        """
        return Events(self)

    async def next_event(self) -> Event:
        """Waits for the next event. Raises ControllerClosed when the controller is closed and has no more."""
        loop = self._own_loop()
        # Yields first, so that a flood of events does not starve the loop's other tasks.
        await asyncio.sleep(0)
        while True:
            calls = self._any_calls()
            if self._closing is not None and not calls.is_closed:
                await asyncio.wait({self._closing})
            # No await from here to the return, so a cancellation cannot lose an event that was taken.
            envelope = calls.take_event()
            if envelope is not None:
                return cast(Event, unwrap(envelope))
            readable = loop.create_future()
            self._waiting.add(readable)
            self._start_reading()
            try:
                await readable
            finally:
                self._waiting.discard(readable)
                if not self._waiting:
                    self._stop_reading()

    def _start_reading(self) -> None:
        # Only while a consumer waits, because the descriptor stays readable until the last event is taken.
        if not self._is_reading and self._calls is not None:
            self._own_loop().add_reader(self._calls.event_fd, self._wake)
            self._is_reading = True

    def _stop_reading(self) -> None:
        if self._is_reading and self._calls is not None:
            self._own_loop().remove_reader(self._calls.event_fd)
            self._is_reading = False

    def _wake(self) -> None:
        self._stop_reading()
        for readable in self._waiting:
            if not readable.done():
                readable.set_result(None)

    # Helpers

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise ControllerClosed("the controller was not opened")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("a controller belongs to the event loop that opened it")
        return self._loop

    def _any_calls(self) -> Calls:
        if self._calls is None:
            raise ControllerClosed("the controller was not opened")
        return self._calls

    def _open_calls(self) -> Calls:
        self._own_loop()
        if self.is_closed:
            raise ControllerClosed("the controller is closed")
        return self._any_calls()

    async def _off_loop(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        assert self._executor is not None
        return await self._own_loop().run_in_executor(self._executor, function, *arguments)


class Events:
    """Iterates over a controller's events. Unlike a generator, it survives the cancellation of a step."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        try:
            return await self._controller.next_event()
        except ControllerClosed:
            raise StopAsyncIteration from None


async def to_the_end(work: asyncio.Future[Result], *, swallow: bool = False) -> Result:
    """Waits for `work` to end, however often the waiting task is cancelled. Then raises the cancellation, unless the
    caller does that itself (`swallow`).
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and not swallow:
        if not work.cancelled():
            work.exception()
        raise cancelled
    return work.result()
