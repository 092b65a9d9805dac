"""While the network is at rest, nothing is open and nothing waits."""

from __future__ import annotations

import time

from .driver import LONG, OK, SYSTEM, NetCase
from .server import echo, hang


class RestTests(NetCase):
    def test_nothing_is_open_after_a_suspension(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server), news=1)
        driver.exchange()
        server.wait(lambda record: any(request.path == "/v1/news" for request in record.requests))
        sockets, threads = driver.counts()
        self.assertGreater(sockets, 0)
        self.assertGreater(threads, 0)
        driver.suspend()
        self.assertEqual(driver.counts_at_rest(), (0, 0))
        server.wait(lambda record: record.open == 0)
        self.assertEqual(driver.exchange(), (SYSTEM, "suspended", b""))
        self.assertEqual(driver.counts_at_rest(), (0, 0))
        driver.resume()
        self.assertEqual(driver.exchange(b"again").body, b"re:again")

    def test_a_suspension_ends_an_exchange_that_hangs(self) -> None:
        for version in ("h2", "http/1.1"):
            with self.subTest(version):
                server, driver = self.serve(versions=(version,)), self.drive()
                server.handlers = [hang]
                driver.open(self.pinned(server))
                waiting = [driver.start(milliseconds=3_600_000) for _ in range(2)]
                server.wait(lambda record: len(record.requests) == 2)
                driver.suspend()
                for name in waiting:
                    self.assertEqual(driver.finish(name), (SYSTEM, "suspended", b""))
                self.assertEqual(driver.counts_at_rest(), (0, 0))

    def test_a_suspension_waits_for_connections_that_are_being_closed(self) -> None:
        server, driver = self.serve(), self.drive()
        server.handlers = [echo, hang]
        driver.open(self.pinned(server))
        # In its time, the next one need not wait for a new connection.
        self.assertEqual(driver.exchange().code, OK)
        driver.linger(2000)
        # The connection on which an exchange hung is closed, while the next exchange removes what has ended.
        self.assertEqual(driver.exchange(milliseconds=300).failure, "timeout")
        driver.await_line("closing")
        next_one = driver.start()
        time.sleep(0.3)
        driver.suspend()
        self.assertEqual(driver.counts()[0], 0)
        self.assertEqual(driver.finish(next_one).failure, "suspended")
        self.assertEqual(driver.counts_at_rest(), (0, 0))

    def test_a_transport_that_is_freed_leaves_nothing(self) -> None:
        server, driver = self.serve(), self.drive()
        driver.open(self.pinned(server), news=1)
        driver.exchange(milliseconds=LONG)
        driver.do("free", "freed")
        self.assertEqual(driver.counts_at_rest(), (0, 0))
        server.wait(lambda record: record.open == 0)
