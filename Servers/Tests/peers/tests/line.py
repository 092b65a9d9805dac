"""A line between clients and a server that can be cut off and broken."""

import asyncio
import threading


class Line:
    """Listens on `port`, and carries bytes to the server's port and back."""

    def __init__(self, server: int):
        self.server = server
        self.loop = asyncio.new_event_loop()
        self.writers: set[asyncio.StreamWriter] = set()
        self.tasks: set[asyncio.Task] = set()
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(started,), daemon=True)
        self.thread.start()
        started.wait()

    def run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        self.mended = asyncio.Event()
        self.mended.set()
        self.listener = self.loop.run_until_complete(asyncio.start_server(self.carry, "127.0.0.1", 0))
        self.port = self.listener.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()
        for task in self.tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*self.tasks, return_exceptions=True))
        self.listener.close()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.tasks.add(task)
        self.writers.add(writer)
        try:
            await self.mended.wait()
            there, back = await asyncio.open_connection("127.0.0.1", self.server)
            self.writers.add(back)
            try:
                await asyncio.gather(self.pump(reader, back), self.pump(there, writer))
            finally:
                self.writers.discard(back)
                back.transport.abort()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.writers.discard(writer)
            self.tasks.discard(task)
            writer.transport.abort()

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(65_536):
            await self.mended.wait()
            writer.write(part)
            await writer.drain()
        # Both directions end together: no client of ours half-closes.
        raise ConnectionResetError

    def cut(self) -> None:
        """Stops carrying bytes, without closing any connection."""
        self.loop.call_soon_threadsafe(self.mended.clear)

    def mend(self) -> None:
        self.loop.call_soon_threadsafe(self.mended.set)

    def drop(self) -> None:
        """Resets every connection."""
        self.loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in self.writers])

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class Lines:
    """From one program to several servers; cut off together."""

    def __init__(self, servers: list[int]):
        self.lines = [Line(server) for server in servers]

    @property
    def ports(self) -> list[int]:
        return [line.port for line in self.lines]

    def cut(self) -> None:
        for line in self.lines:
            line.cut()

    def mend(self, drops: bool) -> None:
        """`drops`: connections are reset, and do not get what was sent meanwhile."""
        for line in self.lines:
            if drops:
                line.drop()
            line.mend()

    def close(self) -> None:
        for line in self.lines:
            line.close()
