"""Devices, phones and notification servers that share their state in a cluster."""

import asyncio
import collections
import json
import os
import queue
import signal
import threading
import time

from . import nats
from .admin import admin
from .push import Device, PushServer, acquaint, begin, text
from .support import PATIENCE, RelayTestCase

SECONDS = float(os.environ.get("PORTER_CHAOS_SECONDS", "0"))
# `Durations.lastRetry` of the people's processes.
LAST_RETRY = 180


class Devices:
    """Several phones behind one local provider, by token."""

    def __init__(self, path: str):
        self.device = Device(path)
        self.queues: dict[str, queue.Queue[dict]] = collections.defaultdict(queue.Queue)
        self.counts: collections.Counter = collections.Counter()
        self.lock, self.isover = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self.sort)
        self.thread.start()

    def sort(self) -> None:
        while not self.isover.is_set():
            try:
                push = self.device.pushes.get(timeout=0.1)
            except queue.Empty:
                continue
            self.counts[push["type"]] += 1
            self.of(push["token"]).put(push)

    def of(self, token: str) -> queue.Queue:
        with self.lock:
            return self.queues[token]

    def close(self) -> None:
        self.isover.set()
        self.thread.join()
        self.device.close()


def records(cluster: nats.Cluster, bucket: str) -> list[str]:
    """The keys of a bucket in the cluster."""
    subject = f"$KV.porter_push_{bucket}."
    answer = json.loads(cluster.request(
        f"$JS.API.STREAM.INFO.KV_porter_push_{bucket}", json.dumps({"subjects_filter": subject + ">"}).encode()))
    subjects = (answer["state"].get("subjects") or {}).keys()
    return sorted(key for key in (each.removeprefix(subject) for each in subjects) if key != "probe")


class Servers:
    """`store`: the cluster's address, or one for each."""

    def __init__(self, test: RelayTestCase, count: int, address: str | list[str], store: str | list[str]):
        self.test = test
        self.addresses, self.stores = ([each] * count if isinstance(each, str) else each for each in (address, store))
        self.servers = [self.serve(index) for index in range(count)]

    def serve(self, index: int) -> PushServer:
        folder = f"{self.test.folder.name}/server-{index}"
        os.makedirs(folder, exist_ok=True)
        server = PushServer(
            folder, relay=self.addresses[index], local_socket=self.test.folder.name + "/device", store=self.stores[index])
        self.test.addCleanup(lambda: server.end(signal.SIGKILL))
        return server

    def kill(self, index: int) -> None:
        self.servers[index].end(signal.SIGKILL)

    def restart(self, index: int) -> None:
        self.servers[index] = self.serve(index)

    @property
    def links(self) -> set[str]:
        return {server.link() for server in self.servers}


class Phone:
    """An app with a token, and a contact that writes to it."""

    def __init__(self, test: RelayTestCase, number: int, devices: Devices, relay: str, link: str, store: str):
        self.folder, self.number, self.relay, self.link, self.store = test.folder.name, number, relay, link, store
        self.token = f"{number:02x}" * 32
        self.pushes = devices.of(self.token)
        self.presented: collections.Counter = collections.Counter()
        self.sent = 0
        # The outcome of each push.
        self.outcomes: list[str] = []

    async def persistently(self, c, command: str) -> dict:
        """Repeats a command until it is answered, since a node or a server may be down."""
        from nightporter import ChatError

        end = time.monotonic() + PATIENCE
        while True:
            try:
                return await c.send(command)
            except ChatError as error:
                if time.monotonic() > end:
                    raise AssertionError(f"{command.split()[1]}: {error}") from error
                await asyncio.sleep(0.2)

    async def activate(self, c) -> None:
        await self.persistently(c, f"/_ntf register apns_test {self.token} INSTANT")
        while (await self.persistently(c, f"/_ntf check apns_test {self.token}"))["status"] != "ACTIVE":
            try:
                push = await asyncio.to_thread(self.pushes.get, timeout=5)
            except queue.Empty:
                await self.persistently(c, f"/_ntf register apns_test {self.token} INSTANT")
                continue
            data = push["payload"].get("notificationData", {})
            if "verification" in data:
                await self.persistently(
                    c, f"/_ntf verify apns_test {self.token} {data['nonce']} {data['verification']}")

    async def watch(self) -> None:
        """Waits until the server watches the mailbox: messages before that have no push."""
        end = time.monotonic() + PATIENCE
        while True:
            said = await asyncio.to_thread(admin, "token", "--token", f"apns_test:{self.token}", "--store", self.store)
            if "subscriptions-ACTIVE = 1" in said.stdout:
                return
            assert time.monotonic() < end, said.stdout + said.stderr
            await asyncio.sleep(0.2)

    async def night(self, over, register: asyncio.Event | None = None, active: asyncio.Event | None = None) -> None:
        """Sends messages, the last one once the trouble is over."""
        from nightporter import Controller

        name = f"{self.folder}/phone-{self.number}"
        async with Controller(name, relay=self.relay) as owner, Controller(name + "-friend", relay=self.relay) as friend:
            await begin(owner, f"owner{self.number}", self.link)
            await begin(friend, f"friend{self.number}", None)
            known = await acquaint(owner, friend)
            if register:
                await register.wait()
            await self.activate(owner)
            await self.watch()
            await owner.suspend()
            if active:
                active.set()
            while True:
                is_last = over()
                words = f"message {self.sent}"
                await friend.send(text(known, words))
                self.sent += 1
                await self.sent_by(friend, known)
                await asyncio.to_thread(self.present, name, words)
                if is_last:
                    break

    async def sent_by(self, friend, known: int) -> None:
        """Waits until the relay has accepted the last message: before that there is no push. After some failed attempts the sender waits minutes
        for the next one."""
        end = time.monotonic() + SECONDS + LAST_RETRY + PATIENCE
        while True:
            chat = await friend.send(f"/_get chat @{known} count=1")
            status = chat["chat"]["chatItems"][-1]["meta"]["itemStatus"]["type"]
            if status != "sndNew":
                break
            assert time.monotonic() < end, "the message is not accepted"
            await asyncio.sleep(0.1)
        assert status in ("sndSent", "sndRcvd"), status

    def present(self, name: str, words: str) -> None:
        """Hands pushes to extensions until this text was shown."""
        from nightporter import Role, SyncController

        accepted = time.strftime("%T")
        end = time.monotonic() + SECONDS + LAST_RETRY + PATIENCE
        while words not in self.presented:
            try:
                push = self.pushes.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"phone {self.number}: no push for {PATIENCE} s; {words} was accepted by {accepted}") from None
            while push["type"] == "alert":
                assert time.monotonic() < end, self.outcomes[-9:]
                with SyncController(name, relay=self.relay, role=Role.EXTENSION) as extension:
                    answer = extension.receive_push(push["payload"])
                bodies = [notification["body"] for notification in answer["notifications"]]
                self.outcomes.append(f"{time.strftime('%T')} {answer['outcome']} {bodies}")
                if answer["outcome"] in ("presented", "nothingNew"):
                    self.presented.update(bodies)
                    break
