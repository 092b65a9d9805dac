"""Successful exchanges, and how they share connections."""

from __future__ import annotations

import asyncio

from .driver import ARGUMENT, OK, NetCase
from .server import Request


class ExchangeTests(NetCase):
    def test_an_exchange_is_one_post_of_the_bytes(self) -> None:
        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                body = bytes(range(256)) * 60
                self.assertEqual(driver.exchange(body), (OK, "none", b"re:" + body))
                (request,) = server.record.requests
                self.assertEqual((request.method, request.path, request.body), ("POST", "/v1/exchange", body))
                self.assertEqual(request.headers["content-type"], "application/octet-stream")
                for unwanted in ("porter-listener", "expect", "cookie", "user-agent", "authorization", "accept-encoding"):
                    self.assertNotIn(unwanted, request.headers)

    def test_exchanges_share_one_connection(self) -> None:
        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                driver.open(self.pinned(server))
                for number in range(20):
                    self.assertEqual(driver.exchange(b"%d" % number).body, b"re:%d" % number)
                self.assertEqual(server.record.connections, 1)

    def test_one_exchange_does_not_wait_for_another(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        driver.exchange(b"first")
        release = asyncio.Event()

        async def wait(request: Request) -> None:
            await release.wait()
            await request.answer(body=b"late")

        server.handlers.insert(0, wait)
        slow = driver.start(b"slow")
        server.wait(lambda record: len(record.requests) == 2)
        self.assertEqual(driver.exchange(b"quick").body, b"re:quick")
        server.loop.call_soon_threadsafe(release.set)
        self.assertEqual(driver.finish(slow).body, b"late")
        self.assertEqual(server.record.connections, 1)

    def test_the_longest_answer_and_an_empty_one(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))

        async def longest(request: Request) -> None:
            await request.answer(body=b"x" * 65536)

        async def empty(request: Request) -> None:
            await request.answer()

        server.handlers[:0] = [longest, empty]
        self.assertEqual(driver.exchange(), (OK, "none", b"x" * 65536))
        self.assertEqual(driver.exchange(), (OK, "none", b""))

    def test_a_request_that_is_too_long_is_not_sent(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server))
        self.assertEqual(driver.exchange(b"x" * 65537).code, ARGUMENT)
        self.assertEqual(server.record.requests, [])
