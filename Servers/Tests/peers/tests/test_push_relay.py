"""porter-push at a porter-relay on the network: alongside apps, across the relay's end and return, and with wrong settings."""

import asyncio
import os
import re
import signal

from . import nats
from .push import Device, PushServer, acquaint, begin, text, watched
from .support import PATIENCE, Relay, RelayTestCase

TOKEN = "cd" * 32


class PushRelayTests(RelayTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.device = Device(self.folder.name + "/device")
        self.addCleanup(self.device.close)

    def serve(self, address: str, **settings: str) -> PushServer:
        server = PushServer(self.folder.name, relay=address, local_socket=self.folder.name + "/device", **settings)
        self.addCleanup(server.end)
        return server

    def wait_for_streams(self, relay: Relay, count: int) -> None:
        while relay.metric("porter_relay_streams") < count:
            self.assertIsNone(relay.process.poll())

    def test_a_relay_that_goes_away_is_noticed_without_traffic(self) -> None:
        relay = self.start()
        server = self.serve(self.address(relay))
        server.link()
        # The server asks when it starts, and when its news stream has begun.
        asked = 'porter_relay_exchanges_total{command="acknowledgeAndGetNotifications",result="done"}'
        while relay.metric(asked) < 2:
            self.assertIsNone(relay.process.poll())
        relay.kill()
        server.wait_for_health(503, "relay: the relay cannot be reached (unreachable)")

    def address(self, relay: Relay) -> str:
        return relay.address.replace("localhost", "127.0.0.1")

    def test_nothing_is_lost_when_the_relay_is_killed_and_comes_back(self) -> None:
        relay = self.start()
        server = self.serve(self.address(relay))
        link = server.link()
        server.wait_for_health(200, "ok")
        self.assertEqual(server.operator("/ready")[0], 200)
        asyncio.run(asyncio.wait_for(self.story(relay, server, link), PATIENCE))
        # The device has the last push before the server has its answer. A push sent when the relay was killed comes again, since it was
        # not acknowledged.
        accepted = re.compile(r'porter_push_pushes_total\{provider="apns_test",outcome="accepted"\} ([56])\n')
        server.wait(lambda: accepted.search(server.operator("/metrics")[1]) is not None)
        self.assertEqual(server.end(), 0)
        self.assertNotIn(str(relay.port), server.lines().replace(f"operators={relay.port}", ""))

    async def story(self, relay: Relay, server: PushServer, link: str) -> None:
        from nightporter import Controller

        address, folder = self.address(relay), self.folder.name
        async with Controller(f"{folder}/alice", relay=address) as alice, Controller(
            f"{folder}/bob", relay=address) as bob:
            await begin(alice, "alice", link)
            await begin(bob, "bob", None)
            known = await acquaint(alice, bob)
            await alice.send(f"/_ntf register apns_test {TOKEN} INSTANT")
            push = await asyncio.to_thread(self.device.push)
            data = push["payload"]["notificationData"]
            await alice.send(f"/_ntf verify apns_test {TOKEN} {data['nonce']} {data['verification']}")
            self.assertEqual((await alice.send(f"/_ntf check apns_test {TOKEN}"))["status"], "ACTIVE")
            await watched(alice)
            await alice.suspend()

            await bob.send(text(known, "before"))
            self.assertEqual((await asyncio.to_thread(self.device.push))["type"], "alert")

            # A message sent while the relay is down waits at Bob's.
            await asyncio.to_thread(relay.kill)
            await asyncio.to_thread(server.wait_for_health, 503, "relay: the relay cannot be reached (unreachable)")
            self.assertEqual((await asyncio.to_thread(server.operator, "/ready"))[0], 503)
            await bob.send(text(known, "meanwhile"))
            relay = await asyncio.to_thread(self.start, listen=f"127.0.0.1:{relay.port}")
            push = await asyncio.to_thread(self.device.push)
            self.assertEqual(push["type"], "alert")
            await asyncio.to_thread(server.wait_for_health, 200, "ok")

            # The relay has forgotten its listeners. The next pushes come nevertheless: the first because the stream is new, the
            # second because the server has subscribed again.
            for words in ("after", "later"):
                await asyncio.to_thread(self.wait_for_streams, relay, 2)
                await bob.send(text(known, words))
                self.assertEqual((await asyncio.to_thread(self.device.push))["type"], "alert")
        self.assertIn("the relay on the network: answers again", server.lines())

    def test_a_relay_that_comes_later_is_waited_for(self) -> None:
        [port] = nats.free_ports(1)
        # Its key is created first, so that its address is known.
        relay = self.start()
        fingerprint = relay.fingerprint
        relay.kill()
        server = self.serve(f"https://127.0.0.1:{port}#{fingerprint}")
        server.wait_for_line("cannot start yet")
        self.assertEqual(server.operator("/ready")[0], 503)
        self.start(listen=f"127.0.0.1:{port}")
        self.assertTrue(server.link().startswith("ntf:"))
        server.wait_for_health(200, "ok")

    def test_another_key_is_said_and_ends_when_asked(self) -> None:
        relay = self.start()
        server = self.serve(f"https://127.0.0.1:{relay.port}#" + "A" * 43)
        server.wait_for_health(503, "relay: the relay cannot be reached (fingerprint)")
        server.wait_for_line("the relay on the network: fingerprint")
        self.assertEqual(server.end(), 0, "while it waits")
        self.assertNotIn("ntf:", server.lines())

    def test_a_relay_that_lost_its_mailboxes_is_said_and_others_return(self) -> None:
        relay = self.start()
        server = self.serve(self.address(relay))
        link = server.link()
        relay.kill()
        saved = self.folder.name + "/data/relay.db"
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(saved + suffix):
                os.rename(saved + suffix, saved + ".saved" + suffix)
        relay = self.start(listen=f"127.0.0.1:{relay.port}")
        server.wait_for_health(503, "the relay does not know this server's mailbox")
        relay.kill()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(saved + suffix):
                os.unlink(saved + suffix)
            if os.path.exists(saved + ".saved" + suffix):
                os.rename(saved + ".saved" + suffix, saved + suffix)
        self.start(listen=f"127.0.0.1:{relay.port}")
        server.wait_for_health(200, "ok")
        self.assertEqual(server.end(), 0)
        again = self.serve(self.address(relay))
        self.assertEqual(again.link(), link)

    def test_an_address_that_is_none_is_said_at_the_start(self) -> None:
        for address in ("https://", "http://127.0.0.1:1", "https://127.0.0.1:1#short"):
            with self.subTest(address):
                server = self.serve(address)
                self.assertEqual(server.process.wait(PATIENCE), 1)
                self.assertIn("relay: expected https://HOST", server.lines())
                server.end(signal.SIGKILL)
