"""A stand-in for Apple's service, over the library h2. It checks each provider token with the library cryptography, and plays what
its input names: a line of JSON on standard input, answered by one on standard output.

    {"plan": [{"status": 410, "reason": "Unregistered"}, …]}   one for each of the next requests; without one it accepts
        {"hold": true}            answers nothing until "release"
        {"drop": true}            ends the connection
        {"goaway": n}             after n more requests have come: says that this and later ones were not processed
        {"reset": "refused"}      resets the stream, with another word than that as an internal error
    {"release": true}             answers what is held
    {"await": n}                  answered when n requests have come
    {"now": seconds}              what time it is, since 1970; without it what the computer's clock says
    {"deaf": true}                connections that come now are never answered
    {"report": true}              what has come
"""

import asyncio
import base64
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
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

KEY_ID, TEAM_ID, TOPIC = "ABCDE12345", "TEAM567890", "org.example.app"


def make_files(folder: str):
    """A certificate for localhost, and the key of a provider."""
    key, provider = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = builder.add_extension(names, False).add_extension(x509.BasicConstraints(True, None), True)
    certificate = builder.sign(key, hashes.SHA256())

    def write(file: str, text: bytes):
        with open(os.open(os.path.join(folder, file), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
            out.write(text)

    def pem(private):
        return private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    write("server.pem", certificate.public_bytes(serialization.Encoding.PEM))
    write("server.key", pem(key))
    write("AuthKey.p8", pem(provider))
    return provider.public_key()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Service:
    def __init__(self, public, streams: int):
        self.public, self.streams = public, streams
        self.plan, self.requests, self.held = [], [], []
        self.connections = self.most = 0
        self.now = None
        self.deaf = False
        self.arrived = asyncio.Condition()

    def complaint(self, headers) -> tuple[int, str] | None:
        """What Apple would refuse, by its own table."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind != "bearer":
            return 403, "MissingProviderToken"
        try:
            head, body, signature = token.split(".")
            numbers = decoded(signature)
            assert len(numbers) == 64 and json.loads(decoded(head)) == {"alg": "ES256", "kid": KEY_ID}
            r, s = int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big")
            self.public.verify(encode_dss_signature(r, s), f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))
            claims = json.loads(decoded(body))
            assert claims["iss"] == TEAM_ID and set(claims) == {"iss", "iat"}
        except (AssertionError, ValueError, KeyError, InvalidSignature):
            return 403, "InvalidProviderToken"
        age = (time.time() if self.now is None else self.now) - claims["iat"]
        if not -60 <= age <= 3600:
            return 403, "ExpiredProviderToken"
        if headers.get("apns-topic") != TOPIC:
            return 400, "BadTopic"
        if headers.get(":method") != "POST":
            return 405, "MethodNotAllowed"
        if not headers.get(":path", "").startswith("/3/device/"):
            return 404, "BadPath"
        if headers.get("apns-priority") not in ("5", "10"):
            return 400, "BadPriority"
        if headers.get("apns-push-type") not in ("alert", "background"):
            return 400, "InvalidPushType"
        if headers["apns-push-type"] == "background" and headers["apns-priority"] == "10":
            return 400, "BadPriority"
        if not headers.get("apns-expiration", "").isdigit():
            return 400, "BadExpirationDate"
        return None

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
                elif isinstance(event, h2.events.StreamReset):
                    self.open.pop(event.stream_id, None)
            self.flush()

    async def request(self, stream: int) -> bool:
        """False to end the connection."""
        service = self.service
        headers, body = self.open[stream]
        if self.goaway is not None and stream > self.goaway:
            return True
        action = service.plan.pop(0) if service.plan else {}
        async with service.arrived:
            entry = {name.lstrip(":").replace("-", "_"): value for name, value in headers.items()}
            service.requests.append({**entry, "connection": self.number, "body": bytes(body).decode()})
            service.arrived.notify_all()
        if action.get("drop"):
            self.writer.transport.abort()
            return False
        if "reset" in action:
            code = h2.errors.ErrorCodes.REFUSED_STREAM if action["reset"] == "refused" else h2.errors.ErrorCodes.INTERNAL_ERROR
            self.h2.reset_stream(stream, code)
            self.open.pop(stream)
        elif action.get("goaway"):
            # This one and later ones were not processed; those before are answered when they are released.
            self.goaway = max(0, stream - 2)
            self.write_goaway()
        elif action.get("hold"):
            service.held.append((self, stream, action))
        else:
            self.answer(stream, action)
        return True

    def write_goaway(self):
        """By hand: h2 takes a connection for closed that has sent one."""
        self.flush()
        payload = self.goaway.to_bytes(4, "big") + bytes(4)
        self.writer.write(len(payload).to_bytes(3, "big") + b"\7\0" + bytes(4) + payload)

    def answer(self, stream: int, action: dict):
        if stream not in self.open:
            return
        headers, _ = self.open.pop(stream)
        status, reason = action.get("status", 200), action.get("reason")
        if complaint := self.service.complaint(headers):
            status, reason = complaint
        fields = [(":status", str(status)), ("apns-id", "00000000-0000-0000-0000-000000000000")]
        if "retryAfter" in action:
            fields.append(("retry-after", str(action["retryAfter"])))
        self.h2.send_headers(stream, fields, end_stream=status == 200)
        if status != 200:
            content = {"reason": reason} | ({"timestamp": 1700000000000} if status == 410 else {})
            self.h2.send_data(stream, json.dumps(content).encode() if reason else action.get("body", "").encode(), end_stream=True)
        self.flush()

    def flush(self):
        self.writer.write(self.h2.data_to_send())


async def obey(service: Service, order: dict) -> dict:
    if "plan" in order:
        service.plan = list(order["plan"])
    if "now" in order:
        service.now = order["now"]
    if "deaf" in order:
        service.deaf = order["deaf"]
    if "release" in order:
        held, service.held = service.held, []
        for connection, stream, action in held:
            connection.answer(stream, action)
    if "await" in order:
        async with service.arrived:
            await service.arrived.wait_for(lambda: len(service.requests) >= order["await"])
    if "report" in order:
        return {"requests": service.requests, "connections": service.connections, "most": service.most}
    return {}


async def main(folder: str, streams: int):
    service = Service(make_files(folder), streams)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
    context.set_alpn_protocols(["h2"])
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    loop, orders = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(orders.put_nowait, json.loads(line))
        # Whatever it waits for: the test is over.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        print(json.dumps(await obey(service, await orders.get())), flush=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100))
