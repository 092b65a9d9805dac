"""Nodes of a NATS cluster, in processes of their own, on this machine's loopback."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

PROGRAM = shutil.which("nats-server") or "/usr/sbin/nats-server"
PATIENCE = 120


def free_ports(count: int) -> list[int]:
    """Free now: a node names its ports before it has them."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Link:
    """Carries the bytes of a connection from one node to another, until it is cut."""

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
                # Otherwise each message between nodes waits 40 ms for the acknowledgement of the one before it.
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
    def __init__(self, name: str, folder: Path, client: int, route: int, monitor: int, routes: list[int]):
        self.name, self.folder, self.client, self.monitor = name, folder, client, monitor
        self.command = [
            PROGRAM, "--name", name, "-a", "127.0.0.1", "-p", str(client), "-m", str(monitor), "-js", "-sd", str(folder)]
        if routes:
            self.command += [
                # What nodes tell each other of addresses leads nowhere: they meet over the links only.
                "--cluster_advertise", "127.0.0.1:9", "--no_advertise", "--cluster_name", "porter", "--cluster", f"nats://127.0.0.1:{route}",
                "--routes", ",".join(f"nats://127.0.0.1:{port}" for port in routes)]
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        with open(self.folder.with_suffix(".log"), "a") as log:
            self.begin = log.tell()
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/healthz", timeout=2) as response:
                return response.status == 200
        except OSError:
            return False

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def has_turned_off(self) -> bool:
        """Since it was started."""
        with open(self.folder.with_suffix(".log"), "rb") as log:
            log.seek(self.begin)
            return b"will be DISABLED" in log.read()

    def complaints(self, count: int = 25) -> list[str]:
        """The last lines of its log that say what was wrong, without those that only answer a question for its health."""
        lines = self.folder.with_suffix(".log").read_text(errors="replace").splitlines()
        found = [line for line in lines if any(level in line for level in ("[WRN]", "[ERR]", "[FTL]", "DISABLED"))]
        return [line for line in found if "Healthcheck" not in line][-count:] + lines[-1:]

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.send_signal(signal.SIGCONT)
            self.process.wait(PATIENCE)


class Cluster:
    """One node, or several. A missing nats-server is an error, not a reason to skip."""

    def __init__(self, count: int = 1):
        # Writes are synced seldom, and a disk would only be noise.
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(prefix="porter-nats-", dir=place)
        # What nodes said that have turned JetStream off.
        self.turned_off: list[list[str]] = []
        ports = free_ports(3 * count)
        # From each node to each other one.
        self.links = {
            (near, far): Link(ports[count + far]) for near in range(count) for far in range(count) if near != far}
        self.nodes = [
            Node(f"n{index}", Path(self.folder.name) / f"n{index}", ports[index], ports[count + index],
                 ports[2 * count + index], [link.port for (near, _), link in self.links.items() if near == index])
            for index in range(count)]
        for node in self.nodes:
            node.start()
        self.wait()

    @property
    def address(self) -> str:
        return "nats://" + ",".join(f"127.0.0.1:{node.client}" for node in self.nodes)

    def wait(self) -> None:
        """Until all nodes say that they are healthy. A node that has turned JetStream off by itself is started again, as whatever
        watches over nodes does: it stays so otherwise."""
        deadline = time.monotonic() + PATIENCE
        while not all(node.is_healthy() for node in self.nodes):
            assert time.monotonic() < deadline, "no cluster: " + self.lines()
            for node in self.nodes:
                if node.has_turned_off():
                    self.turned_off.append([node.name, *node.complaints(4)])
                    node.kill()
                    node.start()
            time.sleep(0.05)

    def lines(self) -> str:
        return "\n".join(
            line for node in self.nodes for line in [f"{node.name}: {node.is_healthy()}", *node.complaints()])

    def leader(self, stream: str) -> Node | None:
        """The node that leads the stream, as the others say."""
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
        """One request over the protocol itself, and its answer."""
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
        """The node keeps its clients, and reaches no other node."""
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
