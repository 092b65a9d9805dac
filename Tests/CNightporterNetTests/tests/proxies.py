"""Minimal CONNECT and SOCKS5 proxies. They connect every name to one port of this machine, and record the requests."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import struct
import threading
from typing import NamedTuple

from .server import PATIENCE


class Asked(NamedTuple):
    host: str
    port: int
    is_name: bool
    user: str | None


class Proxy:
    """Use it in a `with` block. With `refuses`, it refuses every request."""

    def __init__(self, target: int, *, refuses: bool = False) -> None:
        self.target, self.refuses = target, refuses
        self.asked: list[Asked] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="proxy")
        self.tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Proxy:
        self.thread.start()
        start = asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.server = asyncio.run_coroutine_threadsafe(start, self.loop).result(PATIENCE)
        self.port: int = self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(PATIENCE)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def stop(self) -> None:
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            await self.greet(reader, writer)
            if not self.refuses:
                there, back = await asyncio.open_connection("127.0.0.1", self.target)
                await asyncio.gather(carry(reader, back), carry(there, writer))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self.tasks.discard(task)


class ConnectProxy(Proxy):
    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        assert method == "CONNECT", method
        host, _, port = target.rpartition(":")
        user = None
        for line in head.split("\r\n"):
            if line.lower().startswith("proxy-authorization: basic "):
                user = base64.b64decode(line.split(" ")[2]).decode()
        self.asked.append(Asked(host, int(port), not host.replace(".", "").isdigit(), user))
        writer.write(b"HTTP/1.1 403 no\r\n\r\n" if self.refuses else b"HTTP/1.1 200 yes\r\n\r\n")
        await writer.drain()


class SocksProxy(Proxy):
    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        assert version == 5
        user = None
        if 2 in methods:
            writer.write(b"\5\2")
            _, length = await reader.readexactly(2)
            name = await reader.readexactly(length)
            password = await reader.readexactly((await reader.readexactly(1))[0])
            user = f"{name.decode()}:{password.decode()}"
            writer.write(b"\1\0")
        else:
            writer.write(b"\5\0")
        _, command, _, kind = await reader.readexactly(4)
        assert command == 1
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(str(byte) for byte in await reader.readexactly(4 if kind == 1 else 16))
        (port,) = struct.unpack(">H", await reader.readexactly(2))
        self.asked.append(Asked(host, port, kind == 3, user))
        writer.write(b"\5" + (b"\2" if self.refuses else b"\0") + b"\0\1" + bytes(6))
        await writer.drain()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
