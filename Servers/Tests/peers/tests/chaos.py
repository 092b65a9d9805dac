"""Senders, recipients and a service, at relays and nodes that are killed, frozen and cut off from each other."""

import json
import os
import random
import shutil
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from nacl.signing import SigningKey

from . import protocol, support
from .freezing import freeze, thaw
from .nats import Cluster, Connection

PATIENCE = 120


class Unanswered(Exception):
    """The outcome of the request is unknown."""


class Client:
    """One client, which switches to another relay when one does not answer."""

    def __init__(self, ports: list[int], rng: random.Random):
        self.ports, self.rng, self.socket = ports, rng, None
        self.slowest = 0.0
        # The number of tries of the last request that had no answer.
        self.unanswered = 0

    def exchange(self, body: bytes) -> bytes:
        began = time.monotonic()
        try:
            if self.socket is None:
                self.socket = self.connect()
            self.socket.sendall(
                b"POST /v1/exchange HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            status, answer = self.read()
        except OSError as error:
            self.close()
            raise Unanswered from error
        self.slowest = max(self.slowest, time.monotonic() - began)
        if status != 200:
            raise Unanswered(status)
        return answer

    def connect(self) -> ssl.SSLSocket:
        port = self.rng.choice(self.ports)
        # A frozen relay accepts the connection, but never answers.
        plain = socket.create_connection(("127.0.0.1", port), timeout=8)
        return support.context(["http/1.1"]).wrap_socket(plain, server_hostname="localhost")

    def read(self) -> tuple[int, bytes]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.some()
        head, _, body = received.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:])
        while len(body) < int(fields[b"content-length"]):
            body += self.some()
        return int(head.split(b" ")[1]), body

    def some(self) -> bytes:
        received = self.socket.recv(65_536)
        if not received:
            raise ConnectionError
        return received

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket = None

    def ask(self, make) -> tuple[int, bytes]:
        """Repeats a request, created anew each time, until there is an answer."""
        deadline, self.unanswered = time.monotonic() + PATIENCE, 0
        while True:
            try:
                request = make()
                return protocol.answer(self.exchange(request), request)
            except Unanswered:
                self.unanswered += 1
                assert time.monotonic() < deadline, "no answer for two minutes"
                self.close()
                time.sleep(0.02)


@dataclass
class Correspondence:
    """A mailbox, the messages accepted for it, and those its owner received."""

    watched: protocol.Watched
    isread: bool
    accepted: list[bytes] = field(default_factory=list)
    got: list[tuple[bytes, bytes]] = field(default_factory=list)
    # The relay's answers about each message, with their times.
    history: dict[bytes, list[str]] = field(default_factory=dict)
    times: list[str] = field(default_factory=list)
    attempts: list[bytes] = field(default_factory=list)

    def note(self, message: bytes, what: str) -> None:
        self.history.setdefault(message, []).append(f"{time.strftime('%H:%M:%S')} {what}")

    def faults(self) -> list[str]:
        """The messages given again after an acknowledgement was answered, and those reported missing although no earlier acknowledgement can have
        been carried out."""
        bodies, found = dict(self.got), []
        for message, events in self.history.items():
            kinds = [event.split(" ")[1] for event in events]
            ended = next((index for index, kind in enumerate(kinds) if kind in ("done", "noMessage")), len(kinds))
            if "given" in kinds[ended:]:
                found.append(f"given again after it was acknowledged: {bodies.get(message)}: {', '.join(events)}")
            elif kinds[ended:ended + 1] == ["noMessage"] and "unanswered" not in kinds[:ended]:
                found.append(f"not there when it was acknowledged first: {bodies.get(message)}: {', '.join(events)}")
        return found


class Night:
    def __init__(self, cluster: Cluster, start, seed: int, people: int = 4):
        self.cluster, self.rng = cluster, random.Random(seed)
        # Each relay's own way to the nodes.
        self.lines = {folder: cluster.lines() for folder in ("one", "two")}
        self.start = lambda folder: start(folder, log_level="debug", store=cluster.address_at(self.lines[folder].ports))
        self.relays = [self.start(folder) for folder in self.lines]
        self.ports = [relay.port for relay in self.relays]
        self.stopping = threading.Event()
        self.service = SigningKey.generate()
        self.notified: set[bytes] = set()
        self.problems: list[str] = []
        self.clients: list[Client] = []
        self.log: list[str] = []
        client = self.client()
        self.all: list[Correspondence] = []
        self.lock = threading.Lock()
        self.people = people
        for index in range(people):
            self.all.append(self.begin(client, isread=index % 2 == 0))

    def client(self) -> Client:
        made = Client(self.ports, random.Random(self.rng.random()))
        self.clients.append(made)
        return made

    def begin(self, client: Client, isread: bool) -> Correspondence:
        key, sender = SigningKey.generate(), SigningKey.generate()
        _, fields = client.ask(lambda: protocol.create(key, sender))
        mailbox = protocol.Mailbox(fields[:24], fields[24:], key, sender)
        notifier_key, box_key = SigningKey.generate(), protocol.PrivateKey.generate()
        _, fields = client.ask(lambda: protocol.enable_notifier(mailbox, notifier_key, box_key.public_key))
        watched = protocol.Watched(
            mailbox, fields[:24], notifier_key, protocol.Box(box_key, protocol.PublicKey(fields[24:])))
        _, fields = client.ask(lambda: protocol.subscribe_notifiers(self.service, [(watched.notifier, notifier_key)]))
        assert fields[:2] == b"\0\1" and fields[2] != 2, fields
        return Correspondence(watched, isread)

    # Participants

    def guarded(self, body):
        def run(*arguments):
            try:
                body(*arguments)
            except Exception as error:  # noqa: BLE001 (whatever ends a thread is a problem of the night)
                self.problems.append(f"{body.__name__}: {type(error).__name__} {error}")
        return run

    def write(self, index: int) -> None:
        """Sends one message after the other. When a mailbox whose owner does not read is nearly full, continues with a new one."""
        client, number = self.client(), 0
        correspondence = self.all[index]
        while not self.stopping.is_set():
            if not correspondence.isread and len(correspondence.accepted) == 120:
                correspondence = self.begin(client, isread=False)
                with self.lock:
                    self.all.append(correspondence)
            attempt, body = protocol.identifier(), b"%d" % number
            mailbox = correspondence.watched.mailbox
            try:
                client.ask(lambda: protocol.send(mailbox, body, attempt, notify=True))
            except protocol.Refused as refusal:
                if str(refusal) != "quota":
                    raise
                time.sleep(0.01)
                continue
            correspondence.accepted.append(body)
            correspondence.times.append(time.strftime("%H:%M:%S"))
            correspondence.attempts.append(attempt)
            number += 1
            # Not at full speed: there are many senders, and this machine has other work.
            time.sleep(0.005)

    def read(self, correspondence: Correspondence, once: bool = False) -> None:
        client, mailbox = self.client(), correspondence.watched.mailbox
        while once or not self.stopping.is_set():
            try:
                _, fields = client.ask(lambda: protocol.get(mailbox))
            except protocol.Refused as refusal:
                assert str(refusal) == "noMessage", refusal
                if once:
                    return
                time.sleep(0.01)
                continue
            message, body = fields[:24], fields[33:]
            if message not in correspondence.history:
                correspondence.got.append((message, body))
            correspondence.note(message, "given")
            answer = "done"
            try:
                client.ask(lambda: protocol.acknowledge(mailbox, message))
            except protocol.Refused as refusal:
                # A request that had no answer has acknowledged it.
                assert str(refusal) == "noMessage", refusal
                answer = "noMessage"
            if client.unanswered:
                correspondence.note(message, f"unanswered {client.unanswered} times")
            correspondence.note(message, answer)

    def empty(self, correspondence: Correspondence) -> None:
        self.read(correspondence, once=True)

    def notify(self, until_empty: bool = False) -> None:
        client = self.client()
        while until_empty or not self.stopping.is_set():
            _, fields = client.ask(lambda: protocol.due_notifications(self.service, 50))
            wait, found = protocol.notifications(fields)
            with self.lock:
                watched = {each.watched.notifier: each.watched for each in self.all}
            for each in found:
                if each.notifier in watched:
                    self.notified.add(each.message(watched[each.notifier].keys))
            if found:
                client.ask(lambda: protocol.acknowledge_notifications(self.service, [each.nonce for each in found]))
            elif until_empty and wait is None:
                return
            else:
                time.sleep(min(0.05, (wait or 50) / 1_000))

    # Faults

    def harm(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        kinds = [self.kill_node, self.freeze_node, self.cut_off_node, self.kill_relay, self.freeze_relay, self.cut_off_relay]
        only = os.environ.get("PORTER_CHAOS_KINDS")
        if only:
            kinds = [getattr(self, name) for name in only.split(",")]
        turn = 0
        while time.monotonic() < end:
            # Each kind in turn, at a random target, so that a minute has all of them.
            if turn % len(kinds) == 0:
                self.rng.shuffle(kinds)
            kinds[turn % len(kinds)]()
            turn += 1
            time.sleep(self.rng.uniform(0.5, 2))

    def note(self, text: str) -> None:
        self.log.append(f"{time.strftime('%H:%M:%S')} {text}")

    def kill_node(self) -> None:
        node = self.rng.choice(self.cluster.nodes)
        self.note(f"kill {node.name}")
        node.kill()
        time.sleep(self.rng.uniform(0.2, 4))
        node.start()
        self.cluster.wait()

    def freeze_node(self) -> None:
        node = self.rng.choice(self.cluster.nodes)
        self.note(f"freeze {node.name}")
        node.freeze()
        time.sleep(self.rng.uniform(1, 8))
        node.thaw()
        self.cluster.wait()

    def cut_off_node(self) -> None:
        index = self.rng.randrange(len(self.cluster.nodes))
        self.note(f"cut off n{index}")
        self.cluster.cut_off(index)
        time.sleep(self.rng.uniform(1, 8))
        self.cluster.mend()
        self.cluster.wait()

    def kill_relay(self) -> None:
        index = self.rng.randrange(len(self.relays))
        self.note(f"kill relay {index}")
        self.relays[index].kill()
        self.relays[index] = self.start(["one", "two"][index])
        self.ports[index] = self.relays[index].port

    def freeze_relay(self) -> None:
        relay = self.rng.choice(self.relays)
        self.note("freeze a relay")
        freeze(relay.process)
        time.sleep(self.rng.uniform(0.5, 3))
        thaw(relay.process)

    def cut_off_relay(self) -> None:
        """From all nodes, but not from its clients. What either side sent meanwhile may arrive later."""
        folder = self.rng.choice(list(self.lines))
        self.note(f"cut off relay {folder}")
        self.lines[folder].cut()
        time.sleep(self.rng.uniform(0.5, 8))
        self.lines[folder].mend(drops=self.rng.random() < 0.5)

    # The night, and the morning after

    def run(self, seconds: float) -> None:
        threads = [threading.Thread(target=self.guarded(self.write), args=(index,)) for index in range(self.people)]
        threads += [
            threading.Thread(target=self.guarded(self.read), args=(each,)) for each in self.all if each.isread]
        threads += [threading.Thread(target=self.guarded(self.notify)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            self.harm(seconds)
        except Exception as error:  # noqa: BLE001
            self.problems.append(f"harm: {type(error).__name__} {error}")
        self.stopping.set()
        for thread in threads:
            thread.join()
        if folder := os.environ.get("PORTER_CHAOS_KEEP"):
            self.keep(Path(folder))
        for each in self.all:
            if not each.isread:
                continue
            self.read(each, once=True)
        self.notify(until_empty=True)
        # After the pushes, so that every message to an owner who does not read needs one.
        with ThreadPoolExecutor(self.people) as pool:
            pool.map(self.guarded(self.empty), [each for each in self.all if not each.isread])
        for client in self.clients:
            client.close()

    def close(self) -> None:
        for lines in self.lines.values():
            lines.close()

    def keep(self, folder: Path) -> None:
        """Saves the streams (before unread mailboxes are read), the accepted messages, and all logs, to trace what happened to a message."""
        folder.mkdir(parents=True, exist_ok=True)
        connection = Connection(self.cluster.nodes[0])
        try:
            for stream in ("porter_mailboxes_0", "porter_bodies_0"):
                with open(folder / f"{stream}.jsonl", "w") as file:
                    for message in connection.messages(stream):
                        file.write(json.dumps(message) + "\n")
        finally:
            connection.close()
        with open(folder / "accepted.jsonl", "w") as file:
            for index, each in enumerate(self.all):
                for body, at, attempt in zip(each.accepted, each.times, each.attempts):
                    file.write(json.dumps([index, body.decode(), at, attempt.hex()]) + "\n")
        for log in [*self.cluster.logs, *{relay.log.name for relay in self.relays}]:
            shutil.copy(log, folder)

    def account(self) -> list[str]:
        """The faults; empty if every accepted message arrived once, in order, and had its push."""
        found = list(self.problems)
        for index, each in enumerate(self.all):
            bodies = [body for _, body in each.got]
            # The last message may have been stored without an answer to its sender; then there is one more.
            expected = each.accepted + bodies[len(each.accepted):len(each.accepted) + 1]
            if bodies != expected:
                lost = [(body, at) for body, at in zip(each.accepted, each.times) if body not in bodies]
                twice = sorted({body for body in bodies if bodies.count(body) > 1})
                found.append(f"mailbox {index}: lost {len(lost)}: {lost[:5]}, twice {len(twice)}: {twice[:5]}, {len(bodies)} of {len(each.accepted)}")
            found += [f"mailbox {index}: {fault}" for fault in each.faults()[:5]]
            if not each.isread:
                missing = [body for message, body in each.got if message not in self.notified]
                if missing:
                    found.append(f"mailbox {index}: no push for {missing[:5]}")
        return found

    @property
    def condition(self) -> str:
        """The relays' and nodes' reports about themselves."""
        # If the nodes have undone a mailbox's record, the bodies of its lost messages are still there.
        lines = [f"bodies that are left: {[(number, each[24:]) for number, each in self.bodies()]}"]
        for relay in self.relays:
            lines += ["relay: " + relay.operator("/health")[1], *relay.lines().splitlines()[-6:], *relay.ended()]
        for node in self.cluster.nodes:
            lines.append(f"{node.name}: {'healthy' if node.is_healthy() else 'not healthy'}")
            lines += node.complaints()
        return "\n".join(lines)

    def bodies(self) -> list[tuple[int, bytes]]:
        connection = Connection(self.cluster.nodes[0])
        try:
            return connection.contents("porter_bodies_0")
        finally:
            connection.close()

    @property
    def summary(self) -> str:
        sent = sum(len(each.accepted) for each in self.all)
        slowest = max(client.slowest for client in self.clients)
        return f"{sent} messages, {len(self.notified)} pushes, slowest answer {slowest:.2f} s; " + "; ".join(
            self.log + [f"started again: {each}" for each in self.cluster.started_again])
