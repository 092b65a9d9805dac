"""A server as in spec/protocol/relay-http.md that shares no code with Nightporter, and misbehaves on request.

It runs on its own thread. Tests wait for what it records; nothing here depends on how long anything takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

from .certificates import Certificate

Result = TypeVar("Result")
PATIENCE = 60  # seconds; a test that waits longer has failed


@dataclass
class Request:
    """One request, with the actions open to a handler."""

    connection: Connection
    stream: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    async def answer(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        await self.begin(status, length=len(body), **headers)
        await self.send(body)
        await self.end()

    async def begin(self, status: int = 200, *, length: int | None = None, **headers: str) -> None:
        named = {"content-type": "application/octet-stream"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        if length is not None:
            named["content-length"] = str(length)
        await self.connection.begin(self.stream, status, named)

    async def send(self, data: bytes) -> None:
        await self.connection.send(self.stream, data)

    async def end(self) -> None:
        await self.connection.end(self.stream)

    def drop(self) -> None:
        """Aborts the connection without a TLS alert."""
        self.connection.writer.transport.abort()


Handler = Callable[[Request], Awaitable[None]]


class Connection:
    """The common part of both HTTP versions."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.server, self.reader, self.writer, self.number = server, reader, writer, number
        self.tasks: set[asyncio.Task[None]] = set()

    async def write(self, data: bytes) -> None:
        """Writes data. On a connection that the peer has closed, writing does not wait, so a handler would never end."""
        if self.writer.is_closing():
            raise ConnectionError
        self.writer.write(data)
        await self.writer.drain()
        await asyncio.sleep(0)  # drain() itself may not let the loop notice the end

    def take(self, request: Request) -> None:
        task = asyncio.create_task(self.server.take(request))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def run(self) -> None: ...
    async def begin(self, stream: int, status: int, headers: dict[str, str]) -> None: ...
    async def send(self, stream: int, data: bytes) -> None: ...
    async def end(self, stream: int) -> None: ...


class Http1(Connection):
    async def run(self) -> None:
        first = await self.reader.readexactly(1)
        while first:
            head = (first + await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
            self.take(Request(self, 0, method, path, headers, body))
            # The next request comes after the answer; the end may come earlier.
            first = await self.reader.read(1)

    async def begin(self, stream: int, status: int, headers: dict[str, str]) -> None:
        self.chunked = "content-length" not in headers
        if self.chunked:
            headers["transfer-encoding"] = "chunked"
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in headers.items())]
        await self.write("\r\n".join([*lines, "", ""]).encode())

    async def send(self, stream: int, data: bytes) -> None:
        await self.write(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    async def end(self, stream: int) -> None:
        if self.chunked:
            await self.send(stream, b"")


class Http2(Connection):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.open: dict[int, tuple[dict[str, str], bytearray]] = {}
        self.window = asyncio.Event()

    async def run(self) -> None:
        self.h2.initiate_connection()
        self.flush()
        while data := await self.reader.read(65536):
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.flush()

    def handle(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            self.open[event.stream_id] = (dict(event.headers), bytearray())
        elif isinstance(event, h2.events.DataReceived):
            self.open[event.stream_id][1].extend(event.data)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            headers, body = self.open.pop(event.stream_id)
            decoded = {as_text(name): as_text(value) for name, value in headers.items()}
            self.take(
                Request(self, event.stream_id, decoded[":method"], decoded[":path"], decoded, bytes(body))
            )
        elif isinstance(event, h2.events.WindowUpdated):
            self.window.set()

    def flush(self) -> None:
        self.writer.write(self.h2.data_to_send())

    async def begin(self, stream: int, status: int, headers: dict[str, str]) -> None:
        self.h2.send_headers(stream, [(":status", str(status)), *headers.items()])
        await self.write(self.h2.data_to_send())

    async def send(self, stream: int, data: bytes) -> None:
        while data:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room <= 0:
                self.window.clear()
                await self.window.wait()
                continue
            self.h2.send_data(stream, data[:room])
            data = data[room:]
            await self.write(self.h2.data_to_send())

    async def end(self, stream: int) -> None:
        self.h2.end_stream(stream)
        await self.write(self.h2.data_to_send())

    def go_away(self, last_stream: int) -> None:
        self.h2.close_connection(h2.errors.ErrorCodes.NO_ERROR, last_stream_id=last_stream)
        self.flush()


def as_text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


@dataclass
class Record:
    """The events, in order; `changed` is notified of each addition."""

    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    failed_handshakes: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)


class Server:
    """Serves on a port of 127.0.0.1 in a `with` block. Handlers take one request each, in order; the last takes all others."""

    def __init__(self, certificate: Certificate, *, versions: tuple[str, ...] = ("h2", "http/1.1")) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.load_cert_chain(certificate.certificate, certificate.key)
        self.context.set_alpn_protocols(list(versions))
        self.record = Record()
        self.handlers: list[Handler] = [echo]
        self.news_handler: Handler = silent_news
        self.held: list[Request] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="server")
        self.tasks: set[asyncio.Task[None]] = set()

    # The test's side

    def __enter__(self) -> Server:
        self.thread.start()
        self.server = self.run(asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.context))
        self.port: int = self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def run(self, story: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(story, self.loop).result(PATIENCE)

    def wait(self, condition: Callable[[Record], Result]) -> Result:
        """Waits until the condition's value is true; returns it."""
        with self.record.changed:
            if not self.record.changed.wait_for(lambda: condition(self.record), PATIENCE):
                raise AssertionError(f"did not come about: {self.record}")
            return condition(self.record)

    def exchanges(self) -> list[Request]:
        return [request for request in self.record.requests if request.path == "/v1/exchange"]

    # The loop's side

    def note(self, change: Callable[[Record], None]) -> None:
        with self.record.changed:
            change(self.record)
            self.record.changed.notify_all()

    async def take(self, request: Request) -> None:
        def add(record: Record) -> None:
            record.requests.append(request)

        if request.path == "/v1/news":
            handler = self.news_handler
        else:
            handler = self.handlers.pop(0) if len(self.handlers) > 1 else self.handlers[0]
        self.note(add)
        with contextlib.suppress(ConnectionError, h2.exceptions.ProtocolError):
            await handler(request)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)

        def opened(record: Record) -> None:
            record.connections += 1
            record.open += 1

        def closed(record: Record) -> None:
            record.open -= 1

        self.note(opened)
        kind = Http2 if writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2" else Http1
        connection = kind(self, reader, writer, self.record.connections)
        try:
            await connection.run()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, h2.exceptions.ProtocolError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            for pending in connection.tasks:
                pending.cancel()
            writer.transport.abort()
            self.tasks.discard(task)
            self.note(closed)

    async def stop(self) -> None:
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


# ---------------------------------------------------------------------------------------------------------- handlers


async def echo(request: Request) -> None:
    """Gives an answer that shows which request it is for."""
    await request.answer(body=b"re:" + request.body)


async def silent_news(request: Request) -> None:
    await request.begin(content_type="text/event-stream", cache_control="no-store")
    await request.send(b"retry: 10\n\nevent: open\nid: a.1\ndata: open\n\n")
    await asyncio.Event().wait()


async def hang(request: Request) -> None:
    await asyncio.Event().wait()


async def drop(request: Request) -> None:
    request.drop()


def status(code: int, **headers: str) -> Handler:
    async def handler(request: Request) -> None:
        await request.answer(code, b"no\n", content_type="text/plain", **headers)

    return handler
