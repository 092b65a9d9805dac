"""A relay and a notification server are repeatedly killed, frozen and cut off under load. Afterwards every accepted message is
there once, the token and its subscription too, and no push was lost.

PORTER_CHAOS_SECONDS sets the duration, PORTER_CHAOS_SEED repeats a run's faults."""

import asyncio
import collections
import http.client
import os
import random
import signal
import subprocess
import threading
import time

from . import protocol
from .admin import admin
from .freezing import freeze, thaw
from .line import Line
from .push import Device, PushServer, acquaint, activate, begin, text, watched
from .support import HTTP1, PATIENCE, RelayTestCase

SECONDS = float(os.environ.get("PORTER_CHAOS_SECONDS", "8"))
SEED = int(os.environ.get("PORTER_CHAOS_SEED", random.randrange(1 << 32)))
TOKEN = "cd" * 32


class Persistent:
    """Repeats an exchange until it is answered, as a client does, with the same bytes, on a new connection after a failure."""

    def __init__(self, port: int):
        self.port, self.connection, self.repeats = port, None, 0

    def exchange(self, body: bytes) -> bytes:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.connection is None:
                    self.connection = HTTP1(self.port)
                    self.connection.connection.timeout = 2
                status, _, answer = self.connection.post(body)
                if status == 200:
                    return answer
            except (OSError, http.client.HTTPException):
                pass
            self.repeats += 1
            self.close()
            # A server that is down fails immediately.
            time.sleep(0.02)
        raise AssertionError("no answer")

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None


class FaultTests(RelayTestCase):
    def setUp(self) -> None:
        super().setUp()
        print(f"PORTER_CHAOS_SEED={SEED}")
        self.chance = random.Random(SEED)
        self.over = threading.Event()
        self.device = Device(self.folder.name + "/device")
        self.addCleanup(self.device.close)
        os.mkdir(self.folder.name + "/server")
        self.relay = self.start()
        self.line = Line(self.relay.port)
        self.addCleanup(self.line.close)
        self.address = f"https://127.0.0.1:{self.line.port}#{self.relay.fingerprint}"
        self.server = self.serve()

    def serve(self) -> PushServer:
        server = PushServer(self.folder.name + "/server", relay=self.address, local_socket=self.folder.name + "/device")
        self.addCleanup(lambda: server.end(signal.SIGKILL))
        return server

    # ---------------------------------------------------------------------------------------------------- faults

    def pause(self, least: float, most: float) -> None:
        self.over.wait(self.chance.uniform(least, most))

    def kill_relay(self) -> None:
        self.relay.kill()
        self.pause(0, 0.5)
        self.relay = self.start(listen=f"127.0.0.1:{self.relay.port}")

    def freeze(self, process: subprocess.Popen) -> None:
        freeze(process)
        self.pause(0.05, 1)
        thaw(process)

    def kill_server(self) -> None:
        self.server.end(signal.SIGKILL)
        self.pause(0, 0.5)
        self.server = self.serve()

    def cut(self) -> None:
        self.line.cut()
        self.pause(0.05, 1)
        if self.chance.random() < 0.5:
            self.line.drop()
        self.line.mend()

    def trouble(self) -> collections.Counter:
        faults = {
            "relay killed": self.kill_relay, "relay frozen": lambda: self.freeze(self.relay.process),
            "server killed": self.kill_server, "server frozen": lambda: self.freeze(self.server.process),
            "cut off": self.cut, "connections reset": self.line.drop,
        }
        done: collections.Counter = collections.Counter()
        end = time.monotonic() + SECONDS
        order: list[str] = []
        while time.monotonic() < end or len(done) < len(faults):
            if not order:
                order = self.chance.sample(sorted(faults), len(faults))
            name = order.pop()
            faults[name]()
            done[name] += 1
            self.pause(0.2, 1)
        return done

    # ---------------------------------------------------------------------------------------------------- load

    def send(self, mailbox: protocol.Mailbox, sent: list[int], failures: list[BaseException]) -> None:
        client = Persistent(self.line.port)
        try:
            while not self.over.is_set():
                try:
                    protocol.Client(client.exchange).send(mailbox, b"%d" % sent[0])
                    sent[0] += 1
                except protocol.Refused as refusal:
                    # The receiver lags behind.
                    assert str(refusal) == "quota", refusal
                sent[1] = client.repeats
        except BaseException as failure:
            failures.append(failure)
        client.close()

    def receive(self, mailbox: protocol.Mailbox, sent: list[int], received: dict, failures: list[BaseException]) -> None:
        """Collects messages by identifier, since a message comes again if the answer to its acknowledgement is lost."""
        client = Persistent(self.line.port)
        person = protocol.Client(client.exchange)
        try:
            while not self.over.is_set() or len(received) < sent[0]:
                try:
                    _, fields = person.ask(protocol.get(mailbox))
                except protocol.Refused as refusal:
                    assert str(refusal) == "noMessage", refusal
                    continue
                received.setdefault(fields[:24], fields[33:])
                try:
                    person.ask(protocol.acknowledge(mailbox, fields[:24]))
                except protocol.Refused as refusal:
                    assert str(refusal) == "noMessage", refusal
        except BaseException as failure:
            failures.append(failure)
        client.close()

    # ---------------------------------------------------------------------------------------------------- the test

    def test_everything_accepted_is_there_once_and_no_push_is_lost(self) -> None:
        link = self.server.link()
        person = self.person(self.relay)
        mailboxes = [person.mailbox() for _ in range(3)]
        sent, received = [[0, 0] for _ in mailboxes], [{} for _ in mailboxes]
        failures: list[BaseException] = []
        threads = [
            thread for index, mailbox in enumerate(mailboxes) for thread in (
                threading.Thread(target=self.send, args=(mailbox, sent[index], failures)),
                threading.Thread(target=self.receive, args=(mailbox, sent[index], received[index], failures)))]
        for thread in threads:
            thread.start()
        try:
            done, presented = asyncio.run(self.night(link))
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        for index in range(len(mailboxes)):
            self.assertEqual(list(received[index].values()), [b"%d" % number for number in range(sent[index][0])])
        self.check_stores()
        count, repeats = sum(each[0] for each in sent), sum(each[1] for each in sent)
        print(f"chaos: {dict(done)}; {count} messages accepted, {repeats} repeats, {presented} pushed and presented once")
        self.assertGreater(count, 100)
        self.assertGreater(repeats, 0, "no fault was noticed")

    def check_stores(self) -> None:
        self.assertEqual(self.server.end(), 0)
        token = admin("token", "--data", self.folder.name + "/server", "--token", "apns_test:" + TOKEN)
        self.assertEqual(token.stdout.count("id = "), 1, token.stderr)
        self.assertIn("state = active\n", token.stdout)
        self.assertIn("subscriptions-ACTIVE = 1\n", token.stdout)
        for folder in ["data", "server"]:
            verified = admin("verify", "--data", f"{self.folder.name}/{folder}")
            self.assertEqual((verified.returncode, verified.stderr), (0, ""), folder)

    async def night(self, link: str) -> tuple[collections.Counter, int]:
        from nightporter import Controller

        folder = self.folder.name
        async with Controller(f"{folder}/alice", relay=self.address) as alice, Controller(
            f"{folder}/bob", relay=self.address) as bob:
            await begin(alice, "alice", link)
            await begin(bob, "bob", None)
            known = await acquaint(alice, bob)
            await activate(alice, self.device, TOKEN)
            await watched(alice)
            await alice.suspend()
            trouble = asyncio.create_task(asyncio.to_thread(self.trouble))
            presented: collections.Counter = collections.Counter()
            number = 0
            # The last message is sent once the trouble is over.
            while True:
                is_last = trouble.done()
                await bob.send(text(known, f"message {number}"))
                await asyncio.to_thread(self.present, f"message {number}", presented)
                number += 1
                if is_last:
                    break
            self.assertEqual(presented, {f"message {each}": 1 for each in range(number)})
            return trouble.result(), number

    def present(self, words: str, presented: collections.Counter) -> None:
        """Hands pushes to extensions until this text was shown. Tries a push again if the extension cannot reach the relay."""
        from nightporter import Role, SyncController

        while words not in presented:
            push = self.device.push()
            while push["type"] == "alert":
                with SyncController(f"{self.folder.name}/alice", relay=self.address, role=Role.EXTENSION) as extension:
                    answer = extension.receive_push(push["payload"])
                # An extension that cannot reach the relay shows a notification without the text.
                if answer["outcome"] in ("presented", "nothingNew"):
                    presented.update(notification["body"] for notification in answer["notifications"])
                    break
