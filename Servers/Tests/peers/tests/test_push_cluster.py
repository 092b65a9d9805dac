"""Notification servers share their state in a cluster of three nodes. Servers and nodes are killed and frozen while phones register
their tokens and get messages. Afterwards every accepted token and subscription is there once, and no push was lost.

PORTER_CHAOS_SECONDS sets the duration, PORTER_CHAOS_SEED repeats a run's faults, and PORTER_CHAOS_LOGS is a folder for the logs and records of
a failed run."""

import asyncio
import collections
import glob
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import threading
import time

from . import nats
from .admin import admin
from .freezing import freeze, thaw
from .line import Lines
from .push import PushServer
from .push_cluster import SECONDS, Devices, Phone, Servers, records
from .support import PATIENCE, JetStreamTestCase, RelayTestCase

# In long runs, longer than other servers wait before they take over its work.
FREEZE = 9 if SECONDS else 1.5
SEED = int(os.environ.get("PORTER_CHAOS_SEED") or random.randrange(1 << 32))


class PushChaosTests(RelayTestCase):
    PHONES = 2

    def setUp(self) -> None:
        super().setUp()
        self.chance = random.Random(SEED)
        self.cluster = nats.Cluster(3, nats.LATER)
        self.addCleanup(self.cluster.stop)
        self.devices = Devices(self.folder.name + "/device")
        self.addCleanup(self.devices.close)
        self.relay = self.start(log_level="debug")
        self.address = self.relay.address.replace("localhost", "127.0.0.1")
        # Each server's own way to the nodes and to the relay.
        self.lines = [Lines([self.relay.port] + [node.client for node in self.cluster.nodes]) for _ in range(3)]
        for lines in self.lines:
            self.addCleanup(lines.close)
        addresses = [f"https://127.0.0.1:{lines.ports[0]}#{self.relay.fingerprint}" for lines in self.lines]
        self.servers = Servers(self, 3, addresses, [self.cluster.address_at(lines.ports[1:]) for lines in self.lines])
        self.faults: list[str] = []
        self.hasfailed = threading.Event()

    def store(self) -> dict[str, str]:
        return {"store": self.cluster.address}

    # ---------------------------------------------------------------------------------------------------- faults

    def pause(self, least: float, most: float) -> None:
        time.sleep(self.chance.uniform(least, most))

    def kill_server(self) -> None:
        index = self.chance.randrange(3)
        self.servers.kill(index)
        self.pause(0, 2)
        self.servers.restart(index)

    def freeze_server(self) -> None:
        process = self.servers.servers[self.chance.randrange(3)].process
        freeze(process)
        self.pause(0.5, FREEZE)
        thaw(process)

    def cut_off_server(self) -> None:
        """From the nodes and the relay. What either side sent meanwhile may arrive later."""
        lines = self.chance.choice(self.lines)
        lines.cut()
        self.pause(0.5, FREEZE)
        lines.mend(drops=self.chance.random() < 0.5)

    def kill_node(self) -> None:
        node = self.chance.choice(self.cluster.nodes)
        node.kill()
        self.pause(0.2, 3)
        node.start()
        self.cluster.wait()

    def freeze_node(self) -> None:
        node = self.chance.choice(self.cluster.nodes)
        node.freeze()
        self.pause(0.5, FREEZE)
        node.thaw()
        self.cluster.wait()

    def cut_off_node(self) -> None:
        self.cluster.cut_off(self.chance.randrange(3))
        self.pause(1, FREEZE)
        self.cluster.mend()
        self.cluster.wait()

    def trouble(self) -> collections.Counter:
        faults = {
            "server killed": self.kill_server, "server frozen": self.freeze_server, "server cut off": self.cut_off_server,
            "node killed": self.kill_node, "node frozen": self.freeze_node, "node cut off": self.cut_off_node}
        done: collections.Counter = collections.Counter()
        end = time.monotonic() + SECONDS
        order: list[str] = []
        while (time.monotonic() < end or len(done) < len(faults)) and not self.hasfailed.is_set():
            if not order:
                order = self.chance.sample(sorted(faults), len(faults))
            name = order.pop()
            self.faults.append(f"{time.strftime('%T')} {name}")
            faults[name]()
            done[name] += 1
            self.pause(0.2, 1)
        return done

    # ---------------------------------------------------------------------------------------------------- the test

    def test_every_token_and_subscription_is_there_once_and_no_push_is_lost(self) -> None:
        print(f"PORTER_CHAOS_SEED={SEED}")
        links = self.servers.links
        self.assertEqual(len(links), 1, "one identity")
        phones = [Phone(self, number, self.devices, self.address, *links, self.cluster.address) for number in range(1, self.PHONES + 1)]
        try:
            done = asyncio.run(self.night(phones))
        except (AssertionError, queue.Empty) as error:
            self.fail(f"{error!r} at {time.strftime('%T')}\n{self.state_of_all(phones)}")
        for phone in phones:
            self.assertEqual(phone.presented, {f"message {each}": 1 for each in range(phone.sent)})
        self.assertEqual(len(records(self.cluster, "tokens")), self.PHONES)
        self.assertEqual(len(records(self.cluster, "devices")), self.PHONES)
        self.assertEqual(len(records(self.cluster, "subscriptions")), self.PHONES)
        for server in self.servers.servers:
            self.assertEqual(server.end(), 0, server.lines()[-2_000:])
        print(
            f"chaos: {dict(done)}; {sum(each.sent for each in phones)} messages to {self.PHONES} phones, "
            f"{dict(self.devices.counts)} pushes, each message shown once")

    def asked(self, *words: str) -> str:
        """porter-admin's answer about the cluster."""
        try:
            done = admin(*words, "--store", self.cluster.address)
        except subprocess.TimeoutExpired as error:
            return f"{error}\n"
        return done.stdout + done.stderr

    def streams(self) -> list[str]:
        """The streams of each node: shows a stream without a leader, or with differing replicas."""
        lines = []
        for node in self.cluster.nodes:
            accounts = node.monitored("jsz?streams=true&consumers=true").get("account_details", [])
            for stream in [each for account in accounts for each in account.get("stream_detail", [])]:
                state, leader = stream["state"], stream.get("cluster", {}).get("leader", "none")
                lines.append(
                    f"{node.name} {stream['name']}: leader {leader}, {state['messages']} messages, "
                    f"{state['first_seq']} to {state['last_seq']}")
                for each in stream.get("consumer_detail") or []:
                    lines.append(f"  queue {each['name'][:16]}: leader {each.get('cluster', {}).get('leader', 'none')}, " + ", ".join(
                        f"{key} {each.get(key)}" for key in ("num_pending", "num_ack_pending", "num_redelivered", "delivered")))
        return lines

    def keep_logs(self, place: str) -> None:
        """Saves the logs of servers, relay and nodes, and the current records."""
        folder = f"{place}/{time.strftime('%H%M%S')}"
        os.makedirs(folder)
        logs = [(f"server-{index}", f"{self.folder.name}/server-{index}/push.log") for index in range(3)]
        logs += [("relay", self.relay.log.name)] + [(node.name, node.folder.with_suffix(".log")) for node in self.cluster.nodes]
        for name, log in logs:
            shutil.copy(log, f"{folder}/{name}.log")
        for each in glob.glob(f"{self.folder.name}/phone-*.db*"):
            shutil.copy(each, folder)
        connection = nats.Connection(self.cluster.nodes[0])
        with open(f"{folder}/records.json", "w") as file:
            for stream, subject in [
                ("porter_mailboxes_0", "porter.mailbox.0.*"), ("KV_porter_push_tokens", "$KV.porter_push_tokens.*"),
                ("KV_porter_push_subscriptions", "$KV.porter_push_subscriptions.*"), ("porter_bodies_0", "porter.body.0.*")]:
                try:
                    found = connection.api(f"STREAM.INFO.{stream}", subjects_filter=subject)["state"].get("subjects") or {}
                    for each in found:
                        file.write(json.dumps(connection.api(f"STREAM.MSG.GET.{stream}", last_by_subj=each)) + "\n")
                except (KeyError, OSError) as error:
                    file.write(json.dumps({"stream": stream, "error": repr(error)}) + "\n")
        connection.close()

    def state_of_all(self, phones: list[Phone]) -> str:
        """What helps to find a missing push: the stored tokens, the work, the relay's state, and logs."""
        lines = [f"faults: {', '.join(self.faults)}"]
        if keep := os.environ.get("PORTER_CHAOS_LOGS"):
            self.keep_logs(keep)
        for phone in phones:
            lines.append(f"phone {phone.number}: {phone.sent} sent, {len(phone.presented)} shown; last pushes:")
            lines += phone.outcomes[-20:]
            lines.append(self.asked("token", "--token", f"apns_test:{phone.token}"))
        lines.append("verify: " + self.asked("verify"))
        lines += self.streams()
        lines += ["relay: " + self.relay.operator("/health")[1], *self.relay.lines().splitlines()[-30:], *self.relay.ended()]
        for number, server in enumerate(self.servers.servers):
            health = server.operator("/health")[1] if server.process.poll() is None else "ended\n"
            lines += [f"server {number}: {health}", *server.lines().splitlines()[-60:]]
        for node in self.cluster.nodes:
            lines += [f"node {node.name}: healthy: {node.is_healthy()}", *node.complaints()]
        return "\n".join(lines)

    async def night(self, phones: list[Phone]) -> collections.Counter:
        """One phone is registered beforehand and gets messages; the others register during the trouble."""
        begun, trouble = asyncio.Event(), asyncio.Event()
        done: collections.Counter = collections.Counter()

        async def cause() -> None:
            await begun.wait()
            done.update(await asyncio.to_thread(self.trouble))
            trouble.set()

        try:
            await asyncio.gather(
                cause(), phones[0].night(trouble.is_set, active=begun),
                *(phone.night(trouble.is_set, register=begun) for phone in phones[1:]))
        except BaseException as error:
            # What led to a failure must not be overwritten by more trouble.
            self.hasfailed.set()
            print(f"{time.strftime('%T')} {error!r}", *(line for phone in phones for line in phone.outcomes[-9:]), sep="\n", flush=True)
            raise
        return done


class QuorumTests(RelayTestCase):
    def test_without_a_quorum_it_says_so_and_recovers_by_itself(self) -> None:
        cluster = nats.Cluster(3)
        self.addCleanup(cluster.stop)
        devices = Devices(self.folder.name + "/device")
        self.addCleanup(devices.close)
        address = self.start().address.replace("localhost", "127.0.0.1")
        [server] = Servers(self, 1, address, cluster.address).servers
        phone = Phone(self, 1, devices, address, server.link(), cluster.address)

        def fail() -> bool:
            """Fails between two messages; a third one follows."""
            if phone.sent == 1:
                for node in cluster.nodes[1:]:
                    node.freeze()
                server.wait_for_health(503, "state: ")
                self.assertEqual(server.operator("/ready")[0], 503)
                server.wait(lambda: re.search(r'level=warning message="serving failed, trying again later" reason=.+', server.lines()))
                before = server.lines().count("serving works again")
                for node in cluster.nodes[1:]:
                    node.thaw()
                cluster.wait()
                server.wait_for_health(200, "ok")
                server.wait(lambda: server.lines().count('level=info message="serving works again"') > before)
            return phone.sent == 2

        asyncio.run(phone.night(fail))
        self.assertEqual(phone.presented, {f"message {number}": 1 for number in range(3)})
        self.assertEqual(server.end(), 0)


class PushClusterTests(JetStreamTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.devices = Devices(self.folder.name + "/device")
        self.addCleanup(self.devices.close)
        self.address = self.start().address.replace("localhost", "127.0.0.1")

    def test_a_token_of_one_server_is_served_by_the_other_and_outlives_both(self) -> None:
        servers = Servers(self, 2, self.address, self.store()["store"])
        [link] = servers.links
        servers.kill(1)
        phone = Phone(self, 1, self.devices, self.address, link, self.store()["store"])
        turns = iter([0, 1, 0])

        def next_turn() -> bool:
            # A different server sends each message's push.
            ended = next(turns)
            servers.kill(ended)
            servers.restart(1 - ended)
            servers.servers[1 - ended].link()
            return phone.sent == 2

        asyncio.run(phone.night(next_turn))
        self.assertEqual(phone.presented, {f"message {number}": 1 for number in range(3)})

    def test_without_a_cluster_it_waits_for_one_and_says_so(self) -> None:
        cluster = nats.Cluster()
        self.addCleanup(cluster.stop)
        cluster.nodes[0].kill()
        server = PushServer(
            self.folder.name, relay=self.address, local_socket=self.folder.name + "/device", store=cluster.address)
        self.addCleanup(lambda: server.end(signal.SIGKILL))
        server.wait_for_health(503, "no connection to nats://127.0.0.1")
        self.assertEqual(server.operator("/ready")[0], 503)
        cluster.nodes[0].start()
        server.link()
        server.wait_for_health(200, "ok")
        self.assertEqual(server.end(), 0)

    def test_a_place_that_is_no_cluster_is_refused(self) -> None:
        for place, expected in [
            ("https://x", "expected file or nats://"), ("nats://user:password@x", "without a user")]:
            server = PushServer(self.folder.name, relay=self.address, local_socket=self.folder.name + "/device", store=place)
            self.assertEqual(server.process.wait(PATIENCE), 1)
            self.assertIn(expected, server.lines())
            self.assertNotIn("password", server.lines())
            server.end()
