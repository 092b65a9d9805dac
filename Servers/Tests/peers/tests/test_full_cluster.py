"""A cluster whose nodes have no room left: relays and servers report it while it lasts, and recover without a restart when there is room."""

import asyncio
import os
import signal
import time

from . import nats, protocol
from .push import Device, PushServer, activate, begin
from .support import PATIENCE, HTTP1, Relay, RelayTestCase

TOKEN = "ef" * 32


class FullTestCase(RelayTestCase):
    NODES = 1
    STORE = 24 << 20
    # In the nodes' words.
    REASON = "storage: publish: insufficient resources"

    def setUp(self) -> None:
        super().setUp()
        self.cluster = nats.Cluster(self.NODES, store=self.STORE)
        self.addCleanup(self.cluster.stop)

    def fill(self, left: int) -> None:
        """Fills the nodes with data that is not the relay's. In a cluster each node has a copy."""
        connection = nats.Connection(self.cluster.nodes[0])
        made = connection.api(
            "STREAM.CREATE.filler", name="filler", subjects=["filler.*"], storage="file", num_replicas=self.NODES, discard="new")
        self.assertNotIn("error", made)
        while self.STORE - self.used() > left:
            self.assertNotIn("error", connection.request("filler.x", bytes(min(512 << 10, self.STORE - self.used() - left + 1))))
        connection.close()

    def used(self) -> int:
        """The storage used by the fullest node."""
        return max(node.monitored("jsz")["storage"] for node in self.cluster.nodes)

    def make_room(self) -> None:
        connection = nats.Connection(self.cluster.nodes[0])
        self.assertTrue(connection.api("STREAM.DELETE.filler")["success"])
        connection.close()

    def healthy_again(self, relay: Relay) -> None:
        end = time.monotonic() + PATIENCE
        while (answer := relay.operator("/health")) != (200, "ok\n"):
            self.assertIsNone(relay.process.poll())
            self.assertLess(time.monotonic(), end, answer)
            time.sleep(0.05)


class FullTests:
    """Runs with one node, and with several."""

    def test_it_is_said_and_nothing_accepted_is_lost(self):
        relay = self.start(store=self.cluster.address)
        client = HTTP1(relay.port)
        self.addCleanup(client.close)
        person = protocol.Client(client.exchange)
        mailboxes = [person.mailbox() for _ in range(4)]
        self.fill(left=1 << 20)
        accepted: list[list[bytes]] = [[] for _ in mailboxes]
        refused: set[bytes] = set()
        number, status = 0, 200
        while status == 200:
            body = b"%d" % number + bytes(16_000)
            status, headers, _ = client.post(protocol.send(mailboxes[number % 4], body))
            if status == 200:
                accepted[number % 4].append(body)
            else:
                refused.add(body)
            number += 1
        # The nodes refused it, so nothing waited for a time-out.
        self.assertEqual((status, headers["retry-after"]), (503, "2"))
        self.assertGreater(number, 20)
        self.assertIn(self.REASON, relay.operator("/health")[1])
        self.assertEqual(relay.operator("/ready")[0], 503)
        for _ in range(40):
            body = b"more" + os.urandom(16_000)
            refused.add(body)
            self.assertEqual(client.post(protocol.send(mailboxes[0], body))[0], 503)
            self.assertIn(self.REASON, relay.operator("/health")[1])
            time.sleep(0.1)
        self.assertEqual(relay.lines().count("the cluster failed"), 1)
        self.assertNotIn("the cluster works again", relay.lines())
        self.make_room()
        self.healthy_again(relay)
        self.assertEqual(relay.operator("/ready")[0], 200)
        self.assertIn("the cluster works again", relay.lines())
        person.send(mailboxes[0], b"there is room")
        accepted[0].append(b"there is room")
        # Whether a refused request was carried out is unknown.
        found = [[body for body in person.take_all(mailbox) if body not in refused] for mailbox in mailboxes]
        self.assertEqual([[body[:12] for body in each] for each in found], [[body[:12] for body in each] for each in accepted])
        self.assertTrue(found == accepted)
        self.assertEqual(relay.kill(signal.SIGTERM), 0)


    def test_a_limit_of_bodies_leaves_room_for_everything_else(self):
        relay = self.start(store=self.cluster.address)
        client = HTTP1(relay.port)
        self.addCleanup(client.close)
        person = protocol.Client(client.exchange)
        mailbox = person.mailbox()
        connection = nats.Connection(self.cluster.nodes[0])
        configuration = connection.api("STREAM.INFO.porter_bodies_0")["config"]
        self.assertNotIn("error", connection.api("STREAM.UPDATE.porter_bodies_0", **{**configuration, "max_bytes": 1 << 20}))
        connection.close()
        accepted: list[bytes] = []
        while client.post(protocol.send(mailbox, body := b"%d" % len(accepted) + bytes(16_000)))[0] == 200:
            accepted.append(body)
        self.assertGreater(len(accepted), 20)
        for _ in range(30):
            self.assertIn("storage: publish: maximum bytes exceeded", relay.operator("/health")[1])
            time.sleep(0.1)
        self.assertEqual(relay.lines().count("the cluster failed"), 1)
        person.mailbox()
        self.assertTrue(person.take_all(mailbox) == accepted)
        self.healthy_again(relay)
        person.send(mailbox, b"there is room")
        self.assertEqual(person.take_all(mailbox), [b"there is room"])


class FullNodeTests(FullTests, FullTestCase):
    def test_what_is_read_makes_room(self):
        """Nothing else can: the nodes have only the relay's messages."""
        relay = self.start(store=self.cluster.address)
        client = HTTP1(relay.port)
        self.addCleanup(client.close)
        person = protocol.Client(client.exchange)
        mailboxes = [person.mailbox() for _ in range(16)]
        accepted: list[list[bytes]] = [[] for _ in mailboxes]
        refused: set[bytes] = set()
        number = refusals = 0
        # Then also small messages, which take the last room.
        while refusals < 40:
            body = b"%d" % number + bytes(16_000 if refusals < 20 else 100)
            place = number % len(mailboxes)
            if client.post(protocol.send(mailboxes[place], body))[0] == 200:
                accepted[place].append(body)
            else:
                refused.add(body)
                refusals += 1
            number += 1
        found = [[body for body in self.take_all(client, mailbox) if body not in refused] for mailbox in mailboxes]
        self.assertEqual([len(each) for each in found], [len(each) for each in accepted])
        self.assertTrue(found == accepted)
        self.healthy_again(relay)
        person.send(mailboxes[0], b"there is room")
        self.assertEqual(person.take_all(mailboxes[0]), [b"there is room"])

    def take_all(self, client: HTTP1, mailbox) -> list[bytes]:
        """Takes all messages, as a client that repeats failed requests."""
        end, bodies = time.monotonic() + PATIENCE, []

        def ask(make) -> tuple[int, bytes]:
            while True:
                self.assertLess(time.monotonic(), end, bodies and len(bodies))
                status, _, answer = client.post(make())
                if status == 200:
                    return answer[25], answer[26:]
                time.sleep(0.2)

        while True:
            tag, fields = ask(lambda: protocol.get(mailbox))
            if tag != 4:
                return bodies
            bodies.append(fields[33:])
            ask(lambda: protocol.acknowledge(mailbox, fields[:24]))


class FullClusterTests(FullTests, FullTestCase):
    """A leader without room for a message stops leading (`processJetStreamMsg` of nats-server), and so does the next one: here, reading messages
    makes no room."""

    NODES = 3
    REASON = "storage: "


class FullPushTests(FullTestCase):
    """A notification server's state, in a cluster of its own."""

    def test_it_is_said_and_requests_wait(self) -> None:
        relay = self.start()
        path = self.folder.name + "/device"
        device = Device(path)
        self.addCleanup(device.close)
        address = relay.address.replace("localhost", "127.0.0.1")
        server = PushServer(self.folder.name, relay=address, local_socket=path, store=self.cluster.address)
        self.addCleanup(server.end)

        async def story() -> None:
            from nightporter import Controller

            link = await asyncio.to_thread(server.link)
            async with Controller(self.folder.name + "/alice", relay=address) as alice:
                await begin(alice, "alice", link)
                await asyncio.to_thread(self.fill, 0)
                asked = asyncio.create_task(alice.send(f"/_ntf register apns_test {TOKEN} INSTANT"))
                await asyncio.to_thread(server.wait_for_health, 503, "insufficient resources")
                self.assertEqual(server.operator("/ready")[0], 503)
                await asyncio.to_thread(self.make_room)
                try:
                    await asked
                except Exception:
                    # There was no answer in time; the client asks again.
                    pass
                await activate(alice, device, TOKEN)
                await asyncio.to_thread(server.wait_for_health, 200, "ok")
                self.assertEqual(server.operator("/ready")[0], 200)

        asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))
        self.assertEqual(server.end(), 0)
