"""Trouble around a notification server is reported in its log and at /health while it lasts, and ends without a restart when the cause is gone."""

import asyncio
import errno
import os
import socket
import subprocess
import unittest
from pathlib import Path

from . import nats
from .push import Device, PushServer, activate, begin
from .support import PATIENCE
from .trouble import TroubleTestCase, WallClock

TOKEN = "cd" * 32


class PushTestCase(TroubleTestCase):
    """porter-push, with a phone that has registered a token."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder.name + "/device"
        self.state = self.folder.name + "/server"
        os.mkdir(self.state)
        self.relay = self.start()
        self.address = self.relay.address.replace("localhost", "127.0.0.1")

    def serve(self) -> PushServer:
        server = PushServer(self.state, relay=self.address, local_socket=self.path)
        self.addCleanup(server.end)
        return server

    def device(self) -> Device:
        device = Device(self.path)
        self.addCleanup(device.close)
        return device

    def refuses_more_tokens(self, **settings: str) -> None:
        device = self.device()
        server = PushServer(self.state, relay=self.address, local_socket=self.path, tokens="1", **settings)
        self.addCleanup(server.end)

        async def story() -> None:
            from nightporter import ChatError, Controller

            link = server.link()
            async with (
                Controller(self.folder.name + "/alice", relay=self.address) as alice,
                Controller(self.folder.name + "/mallory", relay=self.address) as mallory,
            ):
                await begin(alice, "alice", link)
                await begin(mallory, "mallory", link)
                await activate(alice, device, TOKEN)
                for number in range(3):
                    with self.assertRaises(ChatError) as caught:
                        await mallory.send(f"/_ntf register apns_test {number:02d}{TOKEN[2:]} INSTANT")
                    self.assertIn("QUOTA", str(caught.exception).upper())
                await asyncio.to_thread(server.wait_for_health, 503, "state: tokens: 1, which is the limit; no more are registered")
                self.assertEqual(server.operator("/ready")[0], 200, "tokens that are there are served")
                self.assertEqual(server.lines().count("no more tokens are registered"), 1)
                self.assertEqual((await alice.send(f"/_ntf check apns_test {TOKEN}"))["status"], "ACTIVE")
                await alice.send(f"/_ntf delete apns_test {TOKEN}")
                # A cluster forgets deleted tokens within a few seconds.
                await asyncio.to_thread(server.wait_for_health, 200, "ok")
                await activate(mallory, device, TOKEN)

        asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))
        self.assertEqual(server.end(), 0)


class PushTests(PushTestCase):
    def test_a_clock_that_jumps_is_said_and_changes_nothing(self) -> None:
        clock = WallClock(self.folder.name)
        device = self.device()
        with clock.environment:
            server = self.serve()

        async def story() -> None:
            from nightporter import Controller

            async with Controller(self.folder.name + "/alice", relay=self.address) as alice:
                await begin(alice, "alice", server.link())
                self.assertEqual(server.operator("/health"), (200, "ok\n"))
                clock.move(-400 * 86_400)
                await asyncio.to_thread(server.wait_for_health, 503, "clock: moved by -34560000 s")
                self.assertIn("the system's clock was moved", server.lines())
                self.assertEqual(server.operator("/ready")[0], 200, "clients are served")
                await activate(alice, device, TOKEN)
                clock.move(0)
                await asyncio.to_thread(server.wait_for_health, 200, "ok")
                self.assertIn("the system's clock is back", server.lines())

        asyncio.run(asyncio.wait_for(story(), PATIENCE))
        self.assertEqual(server.end(), 0)

    def test_a_provider_that_hangs_is_said_until_it_answers(self) -> None:
        async def story() -> None:
            from nightporter import Controller

            async with Controller(self.folder.name + "/alice", relay=self.address) as alice:
                await begin(alice, "alice", server.link())
                await alice.send(f"/_ntf register apns_test {TOKEN} INSTANT")
                await asyncio.to_thread(server.wait_for_health, 503, "provider apns_test: ")
                self.assertEqual((await asyncio.to_thread(server.operator, "/ready"))[0], 200, "clients are served")
                self.assertIn("a push provider cannot be reached", server.lines())
                hanging.close()
                os.unlink(self.path)
                await activate(alice, self.device(), TOKEN)
                await asyncio.to_thread(server.wait_for_health, 200, "ok")

        # Accepts connections, but answers nothing.
        with socket.socket(socket.AF_UNIX) as hanging:
            hanging.bind(self.path)
            hanging.listen(64)
            server = self.serve()
            asyncio.run(asyncio.wait_for(story(), PATIENCE))
        self.assertEqual(server.end(), 0)

    def test_more_tokens_than_it_keeps_are_refused_and_that_is_said(self) -> None:
        self.refuses_more_tokens()

    def test_a_disk_that_is_full_is_said_and_requests_wait_at_the_relay(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16M", "none", self.state], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.state], check=True))
        device, server = self.device(), self.serve()

        async def story() -> None:
            from nightporter import Controller

            async with Controller(self.folder.name + "/alice", relay=self.address) as alice:
                await begin(alice, "alice", server.link())
                filler = self.fill()
                asked = asyncio.create_task(alice.send(f"/_ntf register apns_test {TOKEN} INSTANT"))
                await asyncio.to_thread(server.wait_for_health, 503, "disk is full")
                self.assertEqual(server.operator("/ready")[0], 503, "clients are not served")
                self.assertIn("disk is full", server.lines())
                filler.unlink()
                try:
                    await asked
                except Exception:
                    # There was no answer in time; the client asks again.
                    pass
                await activate(alice, device, TOKEN)
                await asyncio.to_thread(server.wait_for_health, 200, "ok")
                self.assertEqual(server.operator("/ready")[0], 200)

        asyncio.run(asyncio.wait_for(story(), PATIENCE))
        self.assertEqual(server.end(), 0)

    def fill(self) -> Path:
        filler = Path(self.state, "filler")
        try:
            with open(filler, "wb", buffering=0) as file:
                while file.write(bytes(4_096)) == 4_096:
                    pass
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOSPC)
        return filler


class SharedTokenTests(PushTestCase):
    """The same with a cluster, which stores the number of tokens."""

    def test_more_tokens_than_it_keeps_are_refused_and_that_is_said(self) -> None:
        cluster = nats.Cluster()
        self.addCleanup(cluster.stop)
        self.refuses_more_tokens(store=cluster.address)


if __name__ == "__main__":
    unittest.main()
