"""Nodes of a NATS cluster, each in its own process, on this machine's loopback interface."""

import base64
import fcntl
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from . import freezing
from .line import Lines

# Debian's version, and a later one from PyPI. When a node that was cut off comes back, Debian's 2.9.10 may replace messages that the other nodes have
# acknowledged (test_replicas.PartitionTests), which no client can prevent. Tests that cut off nodes and may lose nothing run the later one.
PROGRAM = os.environ.get("PORTER_NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"
LATER = os.environ.get("PORTER_NATS_SERVER") or str(Path(sys.prefix) / "bin" / "nats-server")
PATIENCE = 120
# How long a node may be unhealthy before it is restarted.
SICK = 40


given: set[int] = set()
# Each byte's lock is that of a port, as long as this process lives.
locks = open(Path(tempfile.gettempdir()) / f"porter-ports-{os.getuid()}", "ab")


def free_ports(count: int) -> list[int]:
    """Ports that are free now, and that no other process of tests is given, since a node names its ports before it binds them, and leaves them while
    it is down. Outside the range the system assigns to other sockets."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.SystemRandom().randrange(10_000, 32_000)
        if port in given:
            continue
        try:
            fcntl.lockf(locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        except OSError:
            continue
        given.add(port)
        with socket.socket() as probe:
            # As a server binds it, so that remains of earlier connections do not matter.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
    return ports


class Link:
    """Carries the bytes of connections from one node to another, until it is cut."""

    def __init__(self, target: int):
        self.target, self.is_cut, self.lock = target, False, threading.Lock()
        self.sockets: set[socket.socket] = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                if self.is_cut:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
                far.settimeout(None)
                # Otherwise each message between nodes waits 40 ms for the acknowledgement of the previous one.
                for each in [near, far]:
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.sockets |= {near, far}
            for one, other in [(near, far), (far, near)]:
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while received := one.recv(65_536):
                other.sendall(received)
        except OSError:
            pass
        for each in [one, other]:
            with self.lock:
                self.sockets.discard(each)
            self.end(each)

    @staticmethod
    def end(each: socket.socket) -> None:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        each.close()

    def cut(self) -> None:
        self.is_cut = True
        with self.lock:
            sockets = list(self.sockets)
        for each in sockets:
            self.end(each)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.end(self.listener)
        self.cut()


class Node:
    def __init__(
            self, program: str, name: str, folder: Path, client: int, route: int, monitor: int, routes: list[int], store: int | None):
        self.name, self.folder, self.client, self.monitor = name, folder, client, monitor
        self.command = [
            program, "--name", name, "-a", "127.0.0.1", "-p", str(client), "-m", str(monitor), "-js", "-sd", str(folder)]
        if routes:
            self.command += [
                # The addresses that nodes advertise to each other lead nowhere, so they connect over the links only.
                "--cluster_advertise", "127.0.0.1:9", "--no_advertise", "--cluster_name", "porter", "--cluster", f"nats://127.0.0.1:{route}",
                "--routes", ",".join(f"nats://127.0.0.1:{port}" for port in routes)]
        if store:
            # There is no flag for it.
            configuration = folder.with_suffix(".conf")
            configuration.write_text(f"jetstream: {{max_file_store: {store}}}\n")
            self.command += ["-c", str(configuration)]
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        with open(self.folder.with_suffix(".log"), "a") as log:
            self.begin = log.tell()
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def monitored(self, path: str) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/{path}", timeout=5) as response:
            return json.load(response)

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.monitored("varz")["version"].split("-")[0].split("."))

    def last_sequence(self, stream: str) -> int:
        """The last sequence number in this node's replica."""
        accounts = self.monitored("jsz?streams=true").get("account_details", [])
        return next(
            each["state"]["last_seq"] for account in accounts for each in account["stream_detail"] if each["name"] == stream)

    def is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/healthz", timeout=2) as response:
                return response.status == 200
        except OSError:
            return False

    def freeze(self) -> None:
        assert self.process is not None
        freezing.freeze(self.process)

    def thaw(self) -> None:
        assert self.process is not None
        freezing.thaw(self.process)

    def has_turned_off(self) -> bool:
        """Whether it has turned JetStream off since it was started."""
        with open(self.folder.with_suffix(".log"), "rb") as log:
            log.seek(self.begin)
            return b"will be DISABLED" in log.read()

    def complaints(self, count: int = 25) -> list[str]:
        """The last log lines that report trouble, without those that only answer a health check."""
        lines = self.folder.with_suffix(".log").read_text(errors="replace").splitlines()
        found = [line for line in lines if any(level in line for level in ("[WRN]", "[ERR]", "[FTL]", "DISABLED"))]
        return [line for line in found if "Healthcheck" not in line][-count:] + lines[-1:]

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            freezing.thaw(self.process)
            self.process.wait(PATIENCE)


class Connection:
    """A client of one node that implements the protocol itself: one request at a time."""

    def __init__(self, node: Node):
        self.socket = socket.create_connection(("127.0.0.1", node.client), timeout=PATIENCE)
        self.received, self.count = b"", 0
        self.socket.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB answers.* 1\r\n')

    def line(self) -> bytes:
        while b"\r\n" not in self.received:
            self.more()
        line, self.received = self.received.split(b"\r\n", 1)
        return line

    def take(self, count: int) -> bytes:
        while len(self.received) < count + 2:
            self.more()
        taken, self.received = self.received[:count], self.received[count + 2:]
        return taken

    def more(self) -> None:
        some = self.socket.recv(65_536)
        if not some:
            raise ConnectionError
        self.received += some

    def publish(self, subject: str, payload: bytes = b"", headers: dict[str, str] | None = None, reply: str = "") -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"NATS/1.0\r\n{lines}\r\n".encode() if lines else b""
        sizes = f"{len(head)} {len(head) + len(payload)}" if head else str(len(payload))
        verb = "HPUB" if head else "PUB"
        self.socket.sendall(f"{verb} {subject} {reply} {sizes}\r\n".encode() + head + payload + b"\r\n")

    def request(self, subject: str, payload: bytes = b"", headers: dict[str, str] | None = None) -> dict:
        self.count += 1
        reply = f"answers.{self.count}"
        self.publish(subject, payload, headers, reply)
        # The node asks for signs of life while a stream without a leader does not answer.
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            verb, _, rest = self.line().partition(b" ")
            if verb == b"PING":
                self.socket.sendall(b"PONG\r\n")
            if verb not in (b"MSG", b"HMSG"):
                continue
            parts = rest.split(b" ")
            body = self.take(int(parts[-1]))[int(parts[-2]) if verb == b"HMSG" else 0:]
            if parts[0].decode() == reply:
                return json.loads(body or b"{}")
        raise TimeoutError(f"no answer to {subject}")

    def api(self, subject: str, **fields) -> dict:
        return self.request("$JS.API." + subject, json.dumps(fields).encode() if fields else b"")

    def message(self, stream: str, sequence: int) -> bytes | None:
        """The payload of a message, from the stream's leader."""
        found = self.api(f"STREAM.MSG.GET.{stream}", seq=sequence).get("message")
        return None if found is None else base64.b64decode(found.get("data", ""))

    def messages(self, stream: str) -> Iterator[dict]:
        """Each message of the stream's leader, in the format of its answer."""
        start = 1
        while message := self.api(f"STREAM.MSG.GET.{stream}", seq=start, next_by_subj=">").get("message"):
            yield message
            start = message["seq"] + 1

    def contents(self, stream: str) -> list[tuple[int, bytes]]:
        """The number and payload of each message of the stream's leader."""
        return [(each["seq"], base64.b64decode(each.get("data", ""))) for each in self.messages(stream)]

    def close(self) -> None:
        self.socket.close()


class Cluster:
    """One node, or several. A missing nats-server is an error, not a reason to skip."""

    def __init__(self, count: int = 1, program: str = PROGRAM, store: int | None = None):
        """`store`: a node's bytes for messages."""
        # Writes are rarely synced, and a disk would only add noise.
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(prefix="porter-nats-", dir=place)
        # The complaints of nodes that were restarted.
        self.started_again: list[list[str]] = []
        ports = free_ports(3 * count)
        # From each node to every other node.
        self.links = {
            (near, far): Link(ports[count + far]) for near in range(count) for far in range(count) if near != far}
        self.nodes = [
            Node(program, f"n{index}", Path(self.folder.name) / f"n{index}", ports[index], ports[count + index],
                 ports[2 * count + index], [link.port for (near, _), link in self.links.items() if near == index], store)
            for index in range(count)]
        for node in self.nodes:
            node.start()
        self.wait()

    @property
    def address(self) -> str:
        return self.address_at([node.client for node in self.nodes])

    @staticmethod
    def address_at(ports: list[int]) -> str:
        return "nats://" + ",".join(f"127.0.0.1:{port}" for port in ports)

    def lines(self) -> Lines:
        """To all nodes, for one program, which then cannot reach them in another way: nodes name no other addresses to clients."""
        return Lines([node.client for node in self.nodes])

    def wait(self) -> None:
        """Waits until all nodes report that they are healthy. Restarts a node that has turned JetStream off, or is unhealthy for a long time, as a
        supervisor does, because it would stay so. A node that was away while a consumer was replaced may not learn of
        it."""
        begin = time.monotonic()
        restarted = dict.fromkeys(self.nodes, begin)
        while not all(node.is_healthy() for node in self.nodes):
            now = time.monotonic()
            assert now < begin + PATIENCE, "no cluster: " + self.state()
            for node in self.nodes:
                if node.has_turned_off() or (now > restarted[node] + SICK and not node.is_healthy()):
                    self.started_again.append([node.name, *node.complaints(4)])
                    restarted[node] = now
                    node.kill()
                    node.start()
            time.sleep(0.05)

    @property
    def logs(self) -> list[Path]:
        return [node.folder.with_suffix(".log") for node in self.nodes]

    def state(self) -> str:
        return "\n".join(
            line for node in self.nodes for line in [f"{node.name}: {node.is_healthy()}", *node.complaints()])

    def leader(self, stream: str) -> Node | None:
        """The node that leads the stream, according to the nodes."""
        for node in self.nodes:
            try:
                address = f"http://127.0.0.1:{node.monitor}/jsz?streams=true"
                with urllib.request.urlopen(address, timeout=2) as response:
                    accounts = json.load(response).get("account_details", [])
            except OSError:
                continue
            for each in [each for account in accounts for each in account.get("stream_detail", [])]:
                if each["name"] == stream and (name := each.get("cluster", {}).get("leader")):
                    return next(node for node in self.nodes if node.name == name)
        return None

    def request(self, subject: str, payload: bytes = b"") -> bytes:
        """Sends one request over the bare protocol; returns its answer."""
        with socket.create_connection(("127.0.0.1", self.nodes[0].client), timeout=PATIENCE) as connection:
            connection.sendall(
                b'CONNECT {"verbose":false}\r\nSUB answers 1\r\nPUB %b answers %d\r\n%b\r\n'
                % (subject.encode(), len(payload), payload))
            received = b""
            while b"MSG answers" not in received or not received.endswith(b"}\r\n"):
                some = connection.recv(65_536)
                assert some, received
                received += some
        return received.rsplit(b"\r\n", 2)[-2]

    def cut_off(self, index: int) -> None:
        """Cuts the node off from the other nodes, but not from its clients."""
        for pair, link in self.links.items():
            if index in pair:
                link.cut()

    def mend(self) -> None:
        for link in self.links.values():
            link.mend()

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()
        for link in self.links.values():
            link.close()
        self.folder.cleanup()
