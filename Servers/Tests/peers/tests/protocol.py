"""The relay's protocol as described in spec/protocol/relay.md and relay-http.md, written without looking at our implementation: creates and
signs requests, and parses answers."""

import secrets
import struct
from dataclasses import dataclass

from nacl.public import Box, PrivateKey, PublicKey
from nacl.signing import SigningKey

CODES = {1: "auth", 2: "quota", 3: "size", 4: "noMessage", 5: "syntax", 6: "version", 7: "unavailable"}


def identifier() -> bytes:
    return secrets.token_bytes(24)


def listener() -> str:
    import base64

    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")


def optional(value: bytes | None) -> bytes:
    return b"\0" if value is None else b"\1" + value


def request(command: bytes, entity: bytes | None = None, key: SigningKey | None = None, correlation: bytes | None = None) -> bytes:
    correlation = correlation or identifier()
    signed = b"nightporter relay request 1\0" + correlation + optional(entity) + command
    signature = key.sign(signed).signature if key else None
    return b"\1" + correlation + optional(signature) + optional(entity) + command


def listed(
    command: bytes, entries: list[tuple[bytes, SigningKey]], key: SigningKey | None = None, fields: bytes = b"",
) -> bytes:
    """A command with a list, each entry signed by its own key. `fields` come before the list; the entries' signatures do not cover them."""
    correlation = identifier()
    start = b"nightporter relay request 1\0" + correlation
    entries_bytes = struct.pack(">H", len(entries))
    for entity, entry_key in entries:
        entries_bytes += entity + entry_key.sign(start + optional(entity) + command).signature
    whole = command + fields + entries_bytes
    signature = key.sign(start + optional(None) + whole).signature if key else None
    return b"\1" + correlation + optional(signature) + optional(None) + whole


@dataclass
class Mailbox:
    recipient: bytes
    sender: bytes
    key: SigningKey
    sender_key: SigningKey | None


def create(key: SigningKey, sender_key: SigningKey | None = None) -> bytes:
    public = bytes(sender_key.verify_key) if sender_key else None
    return request(b"\1" + bytes(key.verify_key) + optional(public), key=key)


def send(mailbox: Mailbox, body: bytes, attempt: bytes | None = None, notify: bool = False) -> bytes:
    flags = b"\1" if notify else b"\0"
    return request(b"\3" + (attempt or identifier()) + flags + body, mailbox.sender, mailbox.sender_key)


def get(mailbox: Mailbox) -> bytes:
    return request(b"\4", mailbox.recipient, mailbox.key)


def acknowledge(mailbox: Mailbox, message: bytes) -> bytes:
    return request(b"\5" + message, mailbox.recipient, mailbox.key)


def listen(key: SigningKey, mailboxes: list[Mailbox]) -> bytes:
    return listed(b"\x0f" + bytes(key.verify_key), [(each.recipient, each.key) for each in mailboxes], key)


def arrivals(key: SigningKey, position: bytes) -> bytes:
    return request(b"\x10" + bytes(key.verify_key) + position + struct.pack(">H", 256), key=key)


def enable_notifier(mailbox: Mailbox, notifier_key: SigningKey, box_key: PublicKey) -> bytes:
    return request(b"\7" + bytes(notifier_key.verify_key) + bytes(box_key), mailbox.recipient, mailbox.key)


def subscribe_notifiers(service: SigningKey, notifiers: list[tuple[bytes, SigningKey]]) -> bytes:
    return listed(b"\x0a" + bytes(service.verify_key), notifiers, service)


def due_notifications(service: SigningKey, limit: int = 256) -> bytes:
    return request(b"\x0d" + bytes(service.verify_key) + struct.pack(">H", limit), key=service)


def acknowledge_notifications(service: SigningKey, nonces: list[bytes]) -> bytes:
    return request(
        b"\x0c" + bytes(service.verify_key) + struct.pack(">H", len(nonces)) + b"".join(nonces), key=service)


def acknowledge_and_get_notifications(
    service: SigningKey, nonces: list[bytes], mailboxes: list[tuple[bytes, SigningKey]], limit: int = 256,
) -> bytes:
    fields = struct.pack(">HH", limit, len(nonces)) + b"".join(nonces)
    return listed(b"\x15" + bytes(service.verify_key), mailboxes, service, fields)


@dataclass
class Notification:
    notifier: bytes
    nonce: bytes
    metadata: bytes

    def message(self, keys: Box) -> bytes:
        """The identifier of the message it is about."""
        opened = keys.decrypt(self.metadata, self.nonce)
        assert opened[2] == 24
        return opened[3:27]


def notifications(fields: bytes) -> tuple[int | None, list[Notification]]:
    """The milliseconds until the next notification is due, and the notifications that are due."""
    wait, found, rest = leading_notifications(fields)
    assert not rest
    return wait, found


def leading_notifications(fields: bytes) -> tuple[int | None, list[Notification], bytes]:
    """Like `notifications`, and the remaining bytes."""
    wait, rest = (struct.unpack(">I", fields[1:5])[0], fields[5:]) if fields[0] else (None, fields[1:])
    found = []
    count, rest = struct.unpack(">H", rest[:2])[0], rest[2:]
    for _ in range(count):
        notifier, nonce, length = rest[:24], rest[32:56], struct.unpack(">H", rest[56:58])[0]
        found.append(Notification(notifier, nonce, rest[58:58 + length]))
        rest = rest[58 + length:]
    return wait, found, rest


class Refused(Exception):
    pass


def answer(bytes_: bytes, to: bytes) -> tuple[int, bytes]:
    """The tag and the fields; raises Refused if the relay refuses the request."""
    assert bytes_[0] == 1 and bytes_[1:25] == to[1:25], bytes_
    tag, fields = bytes_[25], bytes_[26:]
    if tag == 2:
        raise Refused(CODES[fields[0]])
    return tag, fields


class Client:
    """A person's actions at a relay. `exchange` takes the bytes of a request and returns those of the answer."""

    def __init__(self, exchange):
        self.exchange = exchange

    def ask(self, bytes_: bytes) -> tuple[int, bytes]:
        return answer(self.exchange(bytes_), bytes_)

    def mailbox(self, secured: bool = True) -> Mailbox:
        key, sender_key = SigningKey.generate(), SigningKey.generate() if secured else None
        tag, fields = self.ask(create(key, sender_key))
        assert tag == 3
        return Mailbox(fields[:24], fields[24:], key, sender_key)

    def send(self, mailbox: Mailbox, body: bytes, attempt: bytes | None = None) -> None:
        tag, _ = self.ask(send(mailbox, body, attempt))
        assert tag == 1

    def take_all(self, mailbox: Mailbox) -> list[bytes]:
        bodies = []
        while True:
            try:
                tag, fields = self.ask(get(mailbox))
            except Refused as refusal:
                assert str(refusal) == "noMessage", refusal
                return bodies
            assert tag == 4
            bodies.append(fields[33:])
            self.acknowledge(mailbox, fields[:24])

    def acknowledge(self, mailbox: Mailbox, message: bytes) -> None:
        self.ask(acknowledge(mailbox, message))


@dataclass
class Watched:
    """A mailbox with a notifier, and the keys to open its notifications."""

    mailbox: Mailbox
    notifier: bytes
    notifier_key: SigningKey
    keys: Box

    @staticmethod
    def make(client: Client) -> "Watched":
        mailbox, notifier_key, box_key = client.mailbox(), SigningKey.generate(), PrivateKey.generate()
        tag, fields = client.ask(enable_notifier(mailbox, notifier_key, box_key.public_key))
        assert tag == 6
        return Watched(mailbox, fields[:24], notifier_key, Box(box_key, PublicKey(fields[24:])))
