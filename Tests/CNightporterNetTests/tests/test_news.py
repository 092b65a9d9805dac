"""The news stream: its events, and its return after an interruption."""

from __future__ import annotations

import asyncio
import re
import time

from .driver import NetCase
from .server import Handler, Request, Server, drop, hang, status


def story(*parts: bytes, ends: bool = False) -> Handler:
    """A stream that sends these parts, piece by piece, and stays open unless it `ends`."""

    async def handler(request: Request) -> None:
        await request.begin(content_type="text/event-stream")
        for part in parts:
            await request.send(part)
        if ends:
            await request.end()
        else:
            await asyncio.Event().wait()

    return handler


OPEN = b"retry: 10\n\nevent: open\nid: a.1\ndata: open\n\n"


def event(kind: str, identifier: str) -> bytes:
    return f"event: {kind}\nid: {identifier}\ndata: {kind}\n\n".encode()


class NewsTests(NetCase):
    def streams(self, server: Server, count: int) -> list[Request]:
        """Waits for `count` requests for a stream; returns them."""

        def found(_: object) -> list[Request]:
            streams = [request for request in server.record.requests if request.path == "/v1/news"]
            return streams if len(streams) >= count else []

        return server.wait(found)

    def listen(
        self, *handlers: Handler, connect: int = 0, **options: tuple[str, ...]
    ) -> tuple[Server, list[Request]]:
        """Makes the host listen to streams with these handlers, one after the other."""
        rest = list(handlers)

        async def next_one(request: Request) -> None:
            handler = rest.pop(0) if len(rest) > 1 else rest[0]
            await handler(request)

        server = self.serve(**options)
        server.news_handler = next_one
        self.driver = self.drive()
        self.driver.open(self.pinned(server), news=1, stream=1, connect=connect)
        self.driver.exchange()
        return server, self.streams(server, 1)

    def readies(self) -> int:
        found = self.driver.of("ready").qsize()
        return found

    def test_the_stream_has_the_name_that_exchanges_have(self) -> None:
        server, (stream,) = self.listen(story(OPEN))
        self.assertEqual((stream.method, stream.headers["accept"]), ("GET", "text/event-stream"))
        listener = stream.headers["porter-listener"]
        self.assertRegex(listener, re.compile(r"^[A-Za-z0-9_-]{43}$"))
        self.assertEqual(server.exchanges()[0].headers["porter-listener"], listener)
        self.assertNotIn("last-event-id", stream.headers)
        self.assertEqual(server.record.connections, 1)

    def test_a_host_without_ready_has_no_stream_and_no_name(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        driver.exchange()
        driver.exchange()
        self.assertEqual([request.path for request in server.record.requests], ["/v1/exchange"] * 2)
        self.assertNotIn("porter-listener", server.record.requests[0].headers)

    def test_news_are_reported(self) -> None:
        for versions in (("h2",), ("http/1.1",)):
            with self.subTest(versions):
                parts = [OPEN, event("news", "a.2"), b":\n\n", event("odd", "a.3"), event("reset", "a.4")]
                self.listen(story(*parts), versions=versions)
                self.driver.await_line("ready")
                self.driver.await_line("ready")

    def test_what_becomes_of_the_stream_is_reported(self) -> None:
        ending = story(OPEN, event("news", "a.2"), event("reset", "b.1"), ends=True)
        self.listen(ending, status(503), story(event("news", "b.1")))
        for line in ("stream-open", "ready", "stream-reset", "ready", "stream-ended", "stream-ended", "stream-open", "ready"):
            self.driver.await_line(line)
        self.driver.suspend()
        lines = ("stream-open", "stream-reset", "stream-ended")
        self.assertEqual([self.driver.of(line).qsize() for line in lines] + [self.readies()], [0, 0, 0, 0])

    def test_events_arrive_in_any_pieces(self) -> None:
        whole = OPEN + event("news", "a.2").replace(b"\n", b"\r\n") + event("news", "a.3")
        self.listen(story(*(whole[at : at + 1] for at in range(len(whole)))))
        self.driver.await_line("ready")
        self.driver.await_line("ready")

    def test_a_stream_that_ends_comes_again_from_where_it_was(self) -> None:
        ending = story(OPEN, event("news", "a.7"), ends=True)
        server, _ = self.listen(ending, story(event("open", "a.7")))
        first, second = self.streams(server, 2)
        self.assertEqual(second.headers["last-event-id"], "a.7")
        self.assertEqual(second.headers["porter-listener"], first.headers["porter-listener"])

    def test_a_stream_that_breaks_comes_again(self) -> None:
        for versions in (("h2",), ("http/1.1",)):
            with self.subTest(versions):

                was_heard = asyncio.Event()

                async def half(request: Request) -> None:
                    await request.begin(content_type="text/event-stream")
                    await request.send(OPEN + event("news", "a.2") + b"event: news\nid: a.3\nda")
                    await was_heard.wait()
                    request.drop()

                server, _ = self.listen(half, story(event("news", "a.4")), versions=versions)
                self.driver.await_line("ready")
                server.loop.call_soon_threadsafe(was_heard.set)
                self.assertEqual(self.streams(server, 2)[1].headers["last-event-id"], "a.2")
                self.driver.await_line("ready")
                # Half an event does not count.
                self.driver.suspend()
                self.assertEqual(self.readies(), 0)

    def test_an_identifier_that_is_none_is_not_sent_back(self) -> None:
        for identifier in ("a b", "a\u00e9", "x" * 65, "", "a/b"):
            with self.subTest(identifier):
                bad = story(OPEN, event("news", identifier), ends=True)
                server, _ = self.listen(bad, story(event("open", "a.1")))
                self.assertEqual(self.streams(server, 2)[1].headers["last-event-id"], "a.1")

    def test_endless_lines_are_skipped(self) -> None:
        self.listen(story(OPEN, b"event: " + b"x" * 200_000 + b"\n\n", event("news", "a.2")))
        self.driver.await_line("ready")

    def test_refusals_are_followed_by_another_attempt(self) -> None:
        async def page(request: Request) -> None:
            await request.answer(body=event("news", "a.9"), content_type="text/html")

        # Without the header, the pause before a second attempt is two seconds at first.
        server, _ = self.listen(page, story(OPEN, event("news", "a.2")))
        self.driver.await_line("ready")
        self.assertNotIn("last-event-id", self.streams(server, 2)[1].headers)

    def test_the_relay_says_when(self) -> None:
        server, _ = self.listen(status(429, retry_after="1"), story(OPEN, event("news", "a.2")))
        self.driver.await_line("ready")
        self.assertEqual(len(self.streams(server, 2)), 2)

    def test_exchanges_continue_while_there_are_too_many_streams(self) -> None:
        """Behind one address there may be more clients than streams."""
        server, _ = self.listen(status(429, retry_after="60"))
        self.streams(server, 1)
        for _ in range(20):
            self.assertEqual(self.driver.exchange(b"x").body, b"re:x")
        self.assertEqual(len(self.streams(server, 1)), 1)

    def test_after_a_suspension_the_listener_is_another(self) -> None:
        server, (first,) = self.listen(story(OPEN, event("news", "a.5")))
        self.driver.await_line("ready")
        self.driver.suspend()
        self.driver.resume()
        self.driver.exchange()
        second = self.streams(server, 2)[1]
        self.assertNotEqual(second.headers["porter-listener"], first.headers["porter-listener"])
        self.assertNotIn("last-event-id", second.headers)
        self.assertEqual(server.exchanges()[-1].headers["porter-listener"], second.headers["porter-listener"])

    def test_the_stream_leaves_a_connection_on_which_an_exchange_hung(self) -> None:
        server, (first,) = self.listen(story(OPEN), story(OPEN, event("news", "a.2")))
        server.handlers = [hang]
        self.assertEqual(self.driver.exchange(milliseconds=300).failure, "timeout")
        self.driver.await_line("ready")
        self.assertNotEqual(self.streams(server, 2)[1].connection.number, first.connection.number)

    def test_a_silent_stream_is_reopened_on_another_connection(self) -> None:
        """After a change of network the old connection is dead, and nothing says so. Sleep is silence too."""
        connecting = 3000
        server, (first,) = self.listen(story(OPEN), story(OPEN, event("news", "a.2")), connect=connecting)
        self.driver.await_line("stream-open")
        # libcurl's own timers, such as this one, have woken the thread for the last time.
        time.sleep(connecting / 1000 + 0.5)
        self.driver.sleep(75)
        second = self.streams(server, 2)[1]
        self.driver.await_line("stream-ended")
        self.driver.await_line("ready")
        self.assertNotEqual(second.connection.number, first.connection.number)
        self.assertEqual(second.headers["last-event-id"], "a.1")
        server.wait(lambda record: record.open == 1)

    def test_an_exchange_that_breaks_the_connection(self) -> None:
        server, _ = self.listen(story(OPEN), story(OPEN, event("news", "a.2")))
        server.handlers = [drop, server.handlers[0]]
        self.assertEqual(self.driver.exchange(b"x").body, b"re:x")
        self.driver.await_line("ready")
