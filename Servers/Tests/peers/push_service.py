"""The common part of the stand-ins for push services: an HTTP/2 server over the library h2, controlled through its standard input. It answers each
line of JSON there with one on standard output.

    {"plan": [{"status": 410, "reason": "Unregistered"}, …]}   one action for each of the next requests; without one it accepts
        {"hold": true}            answers nothing until "release"
        {"drop": true}            aborts the connection
        {"goaway": n}             sends GOAWAY: this and later requests were not processed
        {"reset": "refused"}      resets the stream as refused; with any other word, as an internal error
    {"release": true}             answers the held requests
    {"await": n}                  answers when n requests have arrived; the service ends if they do not in a minute
    {"awaitDeaf": n}              answers when n connections have been made that are never answered
    {"awaitSettled": n}           answers when n connections have acknowledged its settings
    {"now": seconds}              sets the time, in seconds since 1970; without it, the computer's clock counts
    {"deaf": true}                new connections are never answered
    {"certificate": "expired"}    the certificate of new connections: "good", "expired", "early", "strange" (another authority's) or "misnamed"
    {"listening": false}          refuses connections
    {"disconnect": true}          aborts the connections
    {"streams": n}                allows n streams from now on, on open connections too; "most" is counted anew
    {"report": true}              reports the requests so far, each with the status of its answer
"""

import asyncio
import datetime
import ipaddress
import json
import os
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write(folder: str, file: str, text: bytes):
    with open(os.open(os.path.join(folder, file), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
        out.write(text)


def pem(private) -> bytes:
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


class Authority:
    def __init__(self, name: str):
        self.key, self.name = ec.generate_private_key(ec.SECP256R1()), self.named(name)
        self.certificate = self.sign(self.name, self.key, (-3, 3), x509.BasicConstraints(True, None))

    @staticmethod
    def named(name: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])

    def sign(self, subject: x509.Name, key, days: tuple[int, int], *extensions: x509.ExtensionType) -> bytes:
        now, (first, last) = datetime.datetime.now(datetime.timezone.utc), days
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now + datetime.timedelta(days=first)).not_valid_after(now + datetime.timedelta(days=last))
        for extension in extensions:
            builder = builder.add_extension(extension, isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def issue(self, folder: str, name: str, host: str, days: tuple[int, int]):
        """Writes a certificate for the host, and its key."""
        key, names = ec.generate_private_key(ec.SECP256R1()), [x509.DNSName(host)]
        if host == "localhost":
            names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
        leaf = self.sign(self.named(host), key, days, x509.SubjectAlternativeName(names), x509.BasicConstraints(False, None))
        write(folder, f"{name}.pem", leaf)
        write(folder, f"{name}.key", pem(key))


def make_certificates(folder: str):
    """Writes the authority to trust, server.pem, and the certificates to choose from."""
    authority = Authority("an authority")
    write(folder, "server.pem", authority.certificate)
    authority.issue(folder, "good", "localhost", (-1, 1))
    authority.issue(folder, "expired", "localhost", (-2, -1))
    authority.issue(folder, "early", "localhost", (1, 2))
    authority.issue(folder, "misnamed", "elsewhere.test", (-1, 1))
    Authority("another authority").issue(folder, "strange", "localhost", (-1, 1))

# A test that waits in vain fails.
LIMIT = 60


class Service:
    """A stand-in's own part: which requests it refuses, how it answers, and what it reports about a request."""

    def __init__(self, streams: int):
        self.streams = streams
        self.plan, self.requests, self.held = [], [], []
        self.connections = self.settled = self.most = self.unanswered = 0
        self.time = None
        self.deaf = False
        self.writers: set = set()
        self.live: set[Connection] = set()
        self.certificate = self.listening = None
        self.arrived = asyncio.Condition()

    def now(self) -> float:
        return time.time() if self.time is None else self.time

    def refusal(self, headers: dict) -> dict | None:
        """An action that replaces the planned one, or None."""
        raise NotImplementedError

    def response(self, action: dict) -> tuple[int, list[tuple[str, str]], bytes]:
        raise NotImplementedError

    def text(self, headers: dict, body: bytes) -> str:
        raise NotImplementedError

    def started(self) -> dict:
        """What to report to the test at the start, in addition to the port."""
        return {}

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            if self.deaf:
                async with self.arrived:
                    self.unanswered += 1
                    self.arrived.notify_all()
                return await reader.read()
            self.connections += 1
            connection = Connection(self, reader, writer, self.connections)
            self.live.add(connection)
            try:
                await connection.run()
            finally:
                self.live.discard(connection)
        except (ConnectionError, h2.exceptions.ProtocolError, ssl.SSLError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()


class Connection:
    def __init__(self, service: Service, reader, writer, number: int):
        self.service, self.reader, self.writer, self.number = service, reader, writer, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.open: dict[int, tuple[dict, bytearray]] = {}
        self.goaway: int | None = None
        self.entries: dict[int, dict] = {}

    async def run(self):
        codes = h2.settings.SettingCodes
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
            codes.MAX_CONCURRENT_STREAMS: self.service.streams, codes.ENABLE_CONNECT_PROTOCOL: 0})
        self.h2.initiate_connection()
        self.flush()
        while data := await self.reader.read(65536):
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.open[event.stream_id] = (dict(event.headers), bytearray())
                    self.service.most = max(self.service.most, len(self.open))
                elif isinstance(event, h2.events.DataReceived) and event.stream_id in self.open:
                    self.open[event.stream_id][1].extend(event.data)
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.open:
                    if not await self.request(event.stream_id):
                        return self.flush()
                elif isinstance(event, h2.events.SettingsAcknowledged):
                    async with self.service.arrived:
                        self.service.settled += 1
                        self.service.arrived.notify_all()
                elif isinstance(event, h2.events.StreamReset):
                    self.open.pop(event.stream_id, None)
            self.flush()

    async def request(self, stream: int) -> bool:
        """Handles a complete request; returns False to end the connection."""
        service = self.service
        headers, body = self.open[stream]
        if self.goaway is not None and stream > self.goaway:
            return True
        action = service.plan.pop(0) if service.plan else {}
        async with service.arrived:
            entry = {name.lstrip(":").replace("-", "_"): value for name, value in headers.items()}
            self.entries[stream] = {**entry, "connection": self.number, "body": service.text(headers, bytes(body))}
            service.requests.append(self.entries[stream])
            service.arrived.notify_all()
        if action.get("drop"):
            self.writer.transport.abort()
            return False
        if "reset" in action:
            code = h2.errors.ErrorCodes.REFUSED_STREAM if action["reset"] == "refused" else h2.errors.ErrorCodes.INTERNAL_ERROR
            self.h2.reset_stream(stream, code)
            self.open.pop(stream)
        elif action.get("goaway"):
            # This request and later ones were not processed; earlier ones are answered when released.
            self.goaway = max(0, stream - 2)
            self.write_goaway()
        elif action.get("hold"):
            service.held.append((self, stream, action))
        else:
            self.answer(stream, action)
        return True

    def write_goaway(self):
        """Writes the frame itself, since h2 considers a connection closed after sending one."""
        self.flush()
        payload = self.goaway.to_bytes(4, "big") + bytes(4)
        self.writer.write(len(payload).to_bytes(3, "big") + b"\7\0" + bytes(4) + payload)

    def answer(self, stream: int, action: dict):
        if stream not in self.open:
            return
        headers, _ = self.open.pop(stream)
        status, fields, body = self.service.response(self.service.refusal(headers) or action)
        self.entries[stream]["status"] = status
        fields = [(":status", str(status)), *fields]
        if "retryAfter" in action:
            fields.append(("retry-after", str(action["retryAfter"])))
        self.h2.send_headers(stream, fields, end_stream=not body)
        if body:
            self.h2.send_data(stream, body, end_stream=True)
        self.flush()

    def flush(self):
        self.writer.write(self.h2.data_to_send())


async def obey(service: Service, order: dict) -> dict:
    if "plan" in order:
        service.plan = list(order["plan"])
    if "now" in order:
        service.time = order["now"]
    if "deaf" in order:
        service.deaf = order["deaf"]
    if "certificate" in order:
        service.certificate(order["certificate"])
    if "listening" in order:
        await service.listening(order["listening"])
    if "disconnect" in order:
        for writer in list(service.writers):
            writer.transport.abort()
    if "streams" in order:
        service.streams, service.most = order["streams"], 0
        for connection in service.live:
            connection.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: service.streams})
            connection.flush()
    if "release" in order:
        held, service.held = service.held, []
        for connection, stream, action in held:
            connection.answer(stream, action)
    if "await" in order:
        async with service.arrived:
            await asyncio.wait_for(service.arrived.wait_for(lambda: len(service.requests) >= order["await"]), LIMIT)
    if "awaitDeaf" in order:
        async with service.arrived:
            await asyncio.wait_for(service.arrived.wait_for(lambda: service.unanswered >= order["awaitDeaf"]), LIMIT)
    if "awaitSettled" in order:
        async with service.arrived:
            await asyncio.wait_for(service.arrived.wait_for(lambda: service.settled >= order["awaitSettled"]), LIMIT)
    if "report" in order:
        return {"requests": service.requests, "connections": service.connections, "most": service.most}
    return {}


async def main(folder: str, service: Service):
    make_certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    # Only new connections use what is loaded later; none resumes an earlier session.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0

    def choose(name: str):
        context.load_cert_chain(os.path.join(folder, f"{name}.pem"), os.path.join(folder, f"{name}.key"))

    choose("good")
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]

    async def listen(wanted: bool):
        nonlocal server
        if wanted:
            server = await asyncio.start_server(service.serve, "127.0.0.1", port, ssl=context)
        else:
            server.close()

    service.certificate, service.listening = choose, listen
    print(json.dumps({"port": port, **service.started()}), flush=True)
    loop, orders = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(orders.put_nowait, json.loads(line))
        # The test is over, whatever this is waiting for.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        print(json.dumps(await obey(service, await orders.get())), flush=True)


def run(make) -> None:
    """Runs the service that `make` creates from the folder and the maximum number of streams on a connection."""

    async def begin():
        folder = sys.argv[1]
        await main(folder, make(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 100))

    asyncio.run(begin())
