"""The common part of the stand-ins for push services: an HTTP/2 server over the library h2, controlled through its standard input. It answers each
line of JSON there with one on standard output.

    {"plan": [{"status": 410, "reason": "Unregistered"}, …]}   one action for each of the next requests; without one it accepts
        {"hold": true}            answers nothing until "release"
        {"drop": true}            aborts the connection
        {"goaway": n}             sends GOAWAY: this and later requests were not processed
        {"reset": "refused"}      resets the stream as refused; with any other word, as an internal error
    {"release": true}             answers the held requests
    {"await": n}                  answers when n requests have arrived; the service ends if they do not in a minute
    {"awaitSettled": n}           answers when n connections have acknowledged its settings
    {"now": seconds}              sets the time, in seconds since 1970; without it, the computer's clock counts
    {"deaf": true}                new connections are never answered
    {"report": true}              reports the requests so far
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


def make_certificate(folder: str):
    """Writes a certificate for localhost, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = builder.add_extension(names, False).add_extension(x509.BasicConstraints(True, None), True)
    write(folder, "server.pem", builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    write(folder, "server.key", pem(key))

# A test that waits in vain fails.
LIMIT = 60


class Service:
    """A stand-in's own part: which requests it refuses, how it answers, and what it reports about a request."""

    def __init__(self, streams: int):
        self.streams = streams
        self.plan, self.requests, self.held = [], [], []
        self.connections = self.settled = self.most = 0
        self.time = None
        self.deaf = False
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
        if self.deaf:
            return await reader.read()
        self.connections += 1
        try:
            await Connection(self, reader, writer, self.connections).run()
        except (ConnectionError, h2.exceptions.ProtocolError, ssl.SSLError):
            pass
        finally:
            writer.close()


class Connection:
    def __init__(self, service: Service, reader, writer, number: int):
        self.service, self.reader, self.writer, self.number = service, reader, writer, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.open: dict[int, tuple[dict, bytearray]] = {}
        self.goaway: int | None = None

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
            service.requests.append({**entry, "connection": self.number, "body": service.text(headers, bytes(body))})
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
    if "release" in order:
        held, service.held = service.held, []
        for connection, stream, action in held:
            connection.answer(stream, action)
    if "await" in order:
        async with service.arrived:
            await asyncio.wait_for(service.arrived.wait_for(lambda: len(service.requests) >= order["await"]), LIMIT)
    if "awaitSettled" in order:
        async with service.arrived:
            await asyncio.wait_for(service.arrived.wait_for(lambda: service.settled >= order["awaitSettled"]), LIMIT)
    if "report" in order:
        return {"requests": service.requests, "connections": service.connections, "most": service.most}
    return {}


async def main(folder: str, service: Service):
    make_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
    context.set_alpn_protocols(["h2"])
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
    print(json.dumps({"port": server.sockets[0].getsockname()[1], **service.started()}), flush=True)
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
