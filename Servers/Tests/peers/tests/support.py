"""A porter-relay in its own process, and third-party clients."""

import http.client
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import h2.config
import h2.connection
import h2.events

from . import nats, protocol

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = os.environ.get("PORTER_RELAY_PROGRAM", str(ROOT / "Servers/.build/debug/porter-relay"))
# Nothing here should take this long; ends a test that would otherwise hang.
PATIENCE = 120
# Limits that tests do not reach, unless they are about them.
GENEROUS = {
    "source-rate": "1000000", "source-burst": "1000000", "creation-rate": "1000000", "creation-burst": "1000000",
    "mailbox-rate": "1000000", "mailbox-burst": "1000000", "source-connections": "100000",
}


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PORTER_RELAY_")}


class Relay:
    def __init__(self, folder: str, **settings: str):
        # A port that the system gives to no other process while a test restarts its relay.
        [port] = nats.free_ports(1)
        flags = {"data": folder, "listen": f"127.0.0.1:{port}", "operators": "127.0.0.1:0", **GENEROUS}
        flags.update({name.replace("_", "-"): value for name, value in settings.items()})
        self.log = open(Path(folder).parent / (Path(folder).name + ".log"), "a+")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *(f"--{name}={value}" for name, value in flags.items())],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment())
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            self.process.wait(PATIENCE)
            raise AssertionError("no relay: " + self.lines())
        self.port = int(self.address.split("#")[0].rsplit(":", 1)[1])
        self.fingerprint = self.address.split("#")[1]
        self.operators = int(re.findall(r'operators"?[=:]"?(\d+)', self.lines())[-1])

    def lines(self) -> str:
        return Path(self.log.name).read_text()

    def ended(self, count: int = 40) -> list[str]:
        """The last notifications in a cluster that reached no service, with the reason and the record's revision. Needs `log_level="debug"`."""
        return [line for line in self.lines().splitlines() if "comes to no service" in line][-count:]

    def kill(self, number: int = signal.SIGKILL) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()
        return code

    def operator(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.operators, timeout=PATIENCE)
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def metric(self, name: str) -> float:
        for line in self.operator("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        return 0

    def resident(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024


def context(protocols: list[str] | None = None) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if protocols is not None:
        made.set_alpn_protocols(protocols)
    return made


def connect(port: int, protocols: list[str] | None = None) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return context(protocols).wrap_socket(plain, server_hostname="localhost")


def exchange(client: "HTTP1 | HTTP2", body: bytes) -> bytes:
    end = time.monotonic() + client.patience
    while True:
        status, _, answer = client.post(body)
        if status != 503 or time.monotonic() > end:
            assert status == 200, (status, answer)
            return answer
        time.sleep(0.02)


class HTTP1:
    """A connection with the standard library's client."""

    # For how long `exchange` repeats a request for which the relay has no time, as when its disk or its node takes most of a second.
    patience = PATIENCE

    def __init__(self, port: int, listener: str | None = None, source: str = "127.0.0.1"):
        self.connection = http.client.HTTPSConnection(
            "127.0.0.1", port, context=context(["http/1.1"]), timeout=PATIENCE, source_address=(source, 0))
        self.headers = {"Content-Type": "application/octet-stream"}
        if listener:
            self.headers["Porter-Listener"] = listener

    def post(self, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
        self.connection.request("POST", "/v1/exchange", body, {**self.headers, **(headers or {})})
        response = self.connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()

    def exchange(self, body: bytes) -> bytes:
        return exchange(self, body)

    def close(self) -> None:
        self.connection.close()


class HTTP2:
    """A connection with the library h2. Several streams can be open at the same time."""

    patience = PATIENCE

    def __init__(self, port: int, listener: str | None = None):
        self.socket = connect(port, ["h2"])
        assert self.socket.selected_alpn_protocol() == "h2"
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.connection.initiate_connection()
        self.listener = listener
        self.events: dict[int, list] = {}
        self.is_going_away = False
        self.flush()

    def flush(self) -> None:
        self.socket.sendall(self.connection.data_to_send())

    def start(self, method: str, path: str, body: bytes | None = None, **headers: str) -> int:
        stream = self.connection.get_next_available_stream_id()
        fields = [(":method", method), (":path", path), (":scheme", "https"), (":authority", "localhost")]
        if self.listener:
            fields.append(("porter-listener", self.listener))
        fields += [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.connection.send_headers(stream, fields, end_stream=body is None)
        if body is not None:
            while len(body) > 16_000:
                self.connection.send_data(stream, body[:16_000])
                body = body[16_000:]
            self.connection.send_data(stream, body, end_stream=True)
        self.events[stream] = []
        self.flush()
        return stream

    def read(self) -> bool:
        """Reads available data; returns False at the end of the connection."""
        received = self.socket.recv(65_536)
        if not received:
            return False
        for event in self.connection.receive_data(received):
            if isinstance(event, h2.events.DataReceived):
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if isinstance(event, h2.events.ConnectionTerminated):
                self.is_going_away = True
            stream = getattr(event, "stream_id", None)
            if stream in self.events:
                self.events[stream].append(event)
        self.flush()
        return True

    def wait(self, stream: int, until) -> list:
        while not any(isinstance(event, until) for event in self.events[stream]):
            assert self.read(), "the connection ended"
        return self.events[stream]

    def result(self, stream: int) -> tuple[int, dict[str, str], bytes]:
        events = self.wait(stream, (h2.events.StreamEnded, h2.events.StreamReset))
        fields = dict(next(event.headers for event in events if isinstance(event, h2.events.ResponseReceived)))
        data = b"".join(event.data for event in events if isinstance(event, h2.events.DataReceived))
        return int(fields[":status"]), fields, data

    def post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        return self.result(self.start("POST", "/v1/exchange", body, content_type="application/octet-stream"))

    def exchange(self, body: bytes) -> bytes:
        return exchange(self, body)

    def close(self) -> None:
        self.socket.close()


class News:
    """A stream of server-sent events over HTTP/1.1."""

    def __init__(self, port: int, listener: str, last: str | None = None):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context(["http/1.1"]), timeout=PATIENCE)
        headers = {"Accept": "text/event-stream", "Porter-Listener": listener}
        if last:
            headers["Last-Event-ID"] = last
        self.connection.request("GET", "/v1/news", headers=headers)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.last = last

    def next(self) -> str | None:
        """The next event's name, or `:` for a comment; None at the end."""
        fields: dict[str, str] = {}
        while line := self.response.readline().decode():
            line = line.rstrip("\n")
            if line.startswith(":"):
                fields["event"] = ":"
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "event" in fields:
                self.last = fields.get("id", self.last)
                return fields["event"]
        return None

    def close(self) -> None:
        self.response.close()
        self.connection.close()


class RelayTestCase(unittest.TestCase):
    def store(self) -> dict[str, str]:
        """The settings for where the mailboxes are: in a file, unless a class overrides this."""
        return {}

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="porter-relay-")
        self.addCleanup(self.folder.cleanup)

    def start(self, folder: str = "data", **settings: str) -> Relay:
        relay = Relay(f"{self.folder.name}/{folder}", **{**self.store(), **settings})
        self.addCleanup(lambda: relay.kill() if relay.process.returncode is None else None)
        return relay

    def http1(self, relay: Relay, listener: str | None = None, source: str = "127.0.0.1") -> HTTP1:
        client = HTTP1(relay.port, listener, source)
        self.addCleanup(client.close)
        return client

    def http2(self, relay: Relay, listener: str | None = None) -> HTTP2:
        client = HTTP2(relay.port, listener)
        self.addCleanup(client.close)
        return client

    def news(self, relay: Relay, listener: str, last: str | None = None) -> News:
        stream = News(relay.port, listener, last)
        self.addCleanup(stream.close)
        return stream

    def person(self, relay: Relay) -> protocol.Client:
        # It imports this module.
        from .patient import Patient

        person = Patient(relay.port)
        self.addCleanup(person.client.close)
        return person


class ClusterTestCase(RelayTestCase):
    """Gives each test its own three nodes."""

    program = nats.PROGRAM

    def setUp(self) -> None:
        super().setUp()
        self.cluster = nats.Cluster(3, self.program)
        self.addCleanup(self.cluster.stop)

    def store(self) -> dict[str, str]:
        return {"store": self.cluster.address}


class JetStreamTestCase(RelayTestCase):
    """The same relay with its mailboxes in JetStream, with a node for each test."""

    def setUp(self) -> None:
        self.cluster = nats.Cluster()
        self.addCleanup(self.cluster.stop)
        super().setUp()

    def store(self) -> dict[str, str]:
        return {"store": self.cluster.address, "nats_partitions": "2"}
