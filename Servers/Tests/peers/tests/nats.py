"""Nodes of a NATS cluster, in processes of their own, on this machine's loopback."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
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


class Node:
    def __init__(self, name: str, folder: Path, client: int, route: int, monitor: int, routes: list[int]):
        self.name, self.folder, self.client, self.monitor = name, folder, client, monitor
        self.command = [
            PROGRAM, "--name", name, "-a", "127.0.0.1", "-p", str(client), "-m", str(monitor), "-js", "-sd", str(folder)]
        if routes:
            self.command += [
                "--cluster_name", "porter", "--cluster", f"nats://127.0.0.1:{route}",
                "--routes", ",".join(f"nats://127.0.0.1:{port}" for port in routes)]
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        with open(self.folder.with_suffix(".log"), "a") as log:
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
        ports = free_ports(3 * count)
        routes = ports[count:2 * count] if count > 1 else []
        self.nodes = [
            Node(f"n{index}", Path(self.folder.name) / f"n{index}", ports[index], ports[count + index],
                 ports[2 * count + index], routes)
            for index in range(count)]
        for node in self.nodes:
            node.start()
        self.wait()

    @property
    def address(self) -> str:
        return "nats://" + ",".join(f"127.0.0.1:{node.client}" for node in self.nodes)

    def wait(self) -> None:
        """Until all nodes say that they are healthy."""
        deadline = time.monotonic() + PATIENCE
        while not all(node.is_healthy() for node in self.nodes):
            assert time.monotonic() < deadline, "no cluster: " + self.lines()
            time.sleep(0.05)

    def lines(self) -> str:
        return "".join(path.read_text()[-2_000:] for path in Path(self.folder.name).glob("*.log"))

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

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()
        self.folder.cleanup()
