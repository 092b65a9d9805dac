"""Relays and networks that misbehave: each exchange ends by its time, with a reason, and the next one works."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .driver import LONG, OK, SYSTEM, TIMEOUT, Driver, NetCase
from .server import Http2, Request, drop, echo, hang, status

SHORT = 300  # milliseconds, for an exchange that is not answered


class TroubleTests(NetCase):
    def assert_works(self, driver: object) -> None:
        self.assertEqual(driver.exchange(b"after"), (OK, "none", b"re:after"))  # type: ignore[attr-defined]

    def test_a_relay_that_hangs(self) -> None:
        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                server.handlers = [echo, hang, echo]
                driver.open(self.pinned(server))
                # In its time, the next one need not wait for a new connection.
                self.assert_works(driver)
                self.assertEqual(driver.exchange(milliseconds=SHORT), (TIMEOUT, "timeout", b""))
                self.assert_works(driver)
                # The connection on which it hung is closed.
                self.assertEqual(server.record.connections, 2)
                server.wait(lambda record: record.open == 1)

    def test_an_exchange_does_not_wait_for_a_connection_on_which_another_hangs(self) -> None:
        server, driver = self.serve(), self.drive()
        server.handlers = [hang, echo]
        driver.open(self.pinned(server))
        hanging = driver.start(milliseconds=3_600_000)
        server.wait(lambda record: len(record.requests) == 1)
        # After a second, or twice what answers take, it counts as hanging; no assertion depends on when that is.
        while server.record.connections == 1:
            self.assert_works(driver)
        driver.suspend()
        self.assertEqual(driver.finish(hanging).code, SYSTEM)

    def test_bytes_that_no_one_acknowledges_end_a_connection(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        self.assert_works(driver)
        self.assertEqual(driver.patience(), 30_000)

    def test_a_slow_network_needs_one_connection(self) -> None:
        """Exchanges that all take more than a second do not hang."""

        async def slow(request: Request) -> None:
            await asyncio.sleep(1.2)
            await request.answer(body=b"slow")

        for _ in range(5):
            server, driver = self.serve(), self.drive()
            server.handlers = [slow]
            driver.open(self.pinned(server), news=1)

            def exchange(driver: Driver = driver) -> float:
                begun = time.monotonic()
                self.assertEqual(driver.exchange().body, b"slow")
                return time.monotonic() - begun

            times = [exchange()]
            with ThreadPoolExecutor() as pool:
                under_way = [pool.submit(exchange)]
                for _ in range(3):
                    # The next begins when the one before is older than a second.
                    time.sleep(1.1)
                    under_way.append(pool.submit(exchange))
            times += [each.result() for each in under_way]
            connections = server.record.connections
            streams = sum(request.path == "/v1/news" for request in server.record.requests)
            # On a busy machine, an exchange may take twice the time of the first answer, and then it does hang.
            if max(times) < 2.2:
                break
        self.assertEqual((connections, streams), (1, 1))

    def test_slow_bytes(self) -> None:
        server, driver = self.serve(), self.drive()
        never = threading.Event()

        async def trickle(request: Request) -> None:
            await request.begin(length=65536)
            while not never.is_set():
                await request.send(b"x")
                await asyncio.sleep(0.02)

        server.handlers = [echo, trickle, echo]
        driver.open(self.pinned(server))
        self.assert_works(driver)
        self.assertEqual(driver.exchange(milliseconds=SHORT).code, TIMEOUT)
        self.assert_works(driver)

    def test_a_connection_that_takes_nothing(self) -> None:
        # The kernel accepts the connection, but no TLS follows.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            driver = self.drive()
            driver.open(f"https://127.0.0.1:{listener.getsockname()[1]}#{self.certificate.fingerprint}", connect=5 * SHORT)
            self.assertEqual(driver.exchange(milliseconds=LONG), (SYSTEM, "unreachable", b""))
            self.assertEqual(driver.exchange(milliseconds=SHORT // 3), (TIMEOUT, "timeout", b""))

    def test_nothing_listens(self) -> None:
        driver = self.drive()
        # Bound, so that no other process is given the port, but it does not listen.
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            driver.open(f"https://127.0.0.1:{bound.getsockname()[1]}")
            self.assertEqual(driver.exchange(), (SYSTEM, "unreachable", b""))

    def test_a_dropped_connection_is_tried_once_more(self) -> None:
        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [drop, echo]
                self.assertEqual(driver.exchange(b"same bytes").body, b"re:same bytes")
                self.assertEqual([request.body for request in server.exchanges()], [b"same bytes"] * 2)
                self.assertEqual(len({request.connection.number for request in server.exchanges()}), 2)

    def test_connections_that_are_always_dropped(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [drop]
        self.assertEqual(driver.exchange(), (SYSTEM, "unreachable", b""))
        # We repeat it once; libcurl itself repeats only a request that a reused connection did not take.
        self.assertEqual(len(server.exchanges()), 2)
        server.handlers = [echo]
        self.assert_works(driver)

    def test_a_connection_that_is_dropped_in_the_middle_of_an_answer(self) -> None:
        async def half(request: Request) -> None:
            await request.begin(length=100)
            await request.send(b"x" * 50)
            request.drop()

        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [half, echo]
                self.assertEqual(driver.exchange(b"whole").body, b"re:whole")

    def test_go_away_with_the_exchange_unanswered(self) -> None:
        async def leave(request: Request) -> None:
            assert isinstance(request.connection, Http2)
            request.connection.go_away(0)  # nothing was read

        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [echo, leave, echo]
        driver.exchange(b"one")
        self.assertEqual(driver.exchange(b"two").body, b"re:two")
        self.assertEqual(len({request.connection.number for request in server.exchanges()}), 2)

    def test_go_away_after_an_answer(self) -> None:
        async def answer_and_leave(request: Request) -> None:
            assert isinstance(request.connection, Http2)
            await request.answer(body=b"last")
            request.connection.go_away(request.stream)

        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [answer_and_leave, echo]
        self.assertEqual(driver.exchange().body, b"last")
        self.assert_works(driver)

    def test_an_answer_that_is_too_long(self) -> None:
        async def endless(request: Request) -> None:
            await request.begin()
            while True:
                await request.send(b"x" * 16384)

        async def one_more(request: Request) -> None:
            await request.answer(body=b"x" * 65537)

        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [endless, one_more, echo]
                self.assertEqual(driver.exchange(), (SYSTEM, "answer", b""))
                self.assertEqual(driver.exchange(), (SYSTEM, "answer", b""))
                self.assert_works(driver)

    def test_garbage_in_place_of_http(self) -> None:
        async def garbage(request: Request) -> None:
            await request.connection.write(b"\xa5" * 5000 + b"\r\n\r\n")

        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [garbage, garbage, echo]
                self.assertEqual(driver.exchange().code, SYSTEM)
                server.handlers = [echo]
                self.assert_works(driver)

    def test_headers_without_end(self) -> None:
        async def headers(request: Request) -> None:
            while True:
                await request.connection.write(b"HTTP/1.1 200 -\r\n" + b"x-more: 0123456789\r\n" * 1000)

        server, driver = self.serve(versions=("http/1.1",)), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [headers, echo]
        self.assertIn(driver.exchange(milliseconds=3000).code, (SYSTEM, TIMEOUT))
        server.handlers = [echo]
        self.assert_works(driver)

    def test_redirects_are_not_followed(self) -> None:
        other = self.serve()
        for code in (301, 302, 303, 307, 308):
            with self.subTest(code):
                server, driver = self.serve(), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [status(code, location=f"https://127.0.0.1:{other.port}/v1/exchange")]
                self.assertEqual(driver.exchange(), (SYSTEM, "refused", b""))
        self.assertEqual(other.record.connections, 0)

    def test_statuses_without_an_answer(self) -> None:
        for code, failure in ((400, "refused"), (404, "refused"), (413, "refused"), (429, "busy"),
                              (500, "busy"), (503, "busy"), (599, "busy")):  # fmt: skip
            with self.subTest(code):
                server, driver = self.serve(), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [status(code), echo]
                self.assertEqual(driver.exchange(), (SYSTEM, failure, b""))
                # Without Retry-After, the engine decides when to try again.
                self.assert_works(driver)

    def test_a_page_in_place_of_an_answer(self) -> None:
        async def page(request: Request) -> None:
            await request.answer(body=b"<html>", content_type="text/html")

        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [page]
        self.assertEqual(driver.exchange(), (SYSTEM, "answer", b""))


class PauseTests(NetCase):
    def test_nothing_is_sent_before_the_relay_allows_it(self) -> None:
        for code in (429, 503):
            with self.subTest(code):
                server, driver = self.serve(), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [status(code, retry_after="300"), echo]
                self.assertEqual(driver.exchange(), (SYSTEM, "busy", b""))
                self.assertEqual(driver.exchange(), (SYSTEM, "busy", b""))
                self.assertEqual(len(server.exchanges()), 1)

    def test_a_pause_ends(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [status(429, retry_after="1"), echo]
        self.assertEqual(driver.exchange(), (SYSTEM, "busy", b""))
        while driver.exchange().code != OK:
            pass
        self.assertEqual(len(server.exchanges()), 2)

    def test_a_limit_of_one_mailbox_is_for_it_alone(self) -> None:
        def request(entity: int, signed: bool) -> bytes:
            signature = b"\1" + b"s" * 64 if signed else b"\0"
            return b"\1" + b"c" * 24 + signature + b"\1" + bytes([entity]) * 24 + b"\4"

        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        server.handlers = [status(429, retry_after="300", porter_limit="mailbox"), echo]
        self.assertEqual(driver.exchange(request(1, True)).failure, "busy")
        self.assertEqual(driver.exchange(request(1, True)).failure, "busy")
        self.assertEqual(driver.exchange(request(1, False)).failure, "busy")
        self.assertEqual(driver.exchange(request(2, True)).code, OK)
        self.assertEqual(driver.exchange(b"\1" + b"c" * 24 + b"\0\0\6").code, OK)
        self.assertEqual(len(server.exchanges()), 3)

    def test_a_time_that_is_none(self) -> None:
        for value in ("", "soon", "-1", "0", "Wed, 21 Oct 2026 07:28:00 GMT"):
            with self.subTest(value):
                server, driver = self.serve(), self.drive()
                driver.open(self.pinned(server))
                server.handlers = [status(429, retry_after=value), echo]
                self.assertEqual(driver.exchange().failure, "busy")
                self.assertEqual(driver.exchange().code, OK)
