"""The relay's protocol as spec/protocol/relay.md and relay-http.md describe it, written without a look at ours: requests are
made and signed here, and answers are taken apart here."""

import secrets
import struct
from dataclasses import dataclass

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


def listed(command: bytes, entries: list[tuple[bytes, SigningKey]], key: SigningKey | None = None) -> bytes:
    """A command with a list, each entry signed by its own key."""
    correlation = identifier()
    start = b"nightporter relay request 1\0" + correlation
    entries_bytes = struct.pack(">H", len(entries))
    for entity, entry_key in entries:
        entries_bytes += entity + entry_key.sign(start + optional(entity) + command).signature
    whole = command + entries_bytes
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


def send(mailbox: Mailbox, body: bytes, attempt: bytes | None = None) -> bytes:
    return request(b"\3" + (attempt or identifier()) + b"\0" + body, mailbox.sender, mailbox.sender_key)


def get(mailbox: Mailbox) -> bytes:
    return request(b"\4", mailbox.recipient, mailbox.key)


def acknowledge(mailbox: Mailbox, message: bytes) -> bytes:
    return request(b"\5" + message, mailbox.recipient, mailbox.key)


def listen(key: SigningKey, mailboxes: list[Mailbox]) -> bytes:
    return listed(b"\x0f" + bytes(key.verify_key), [(each.recipient, each.key) for each in mailboxes], key)


def arrivals(key: SigningKey, position: bytes) -> bytes:
    return request(b"\x10" + bytes(key.verify_key) + position + struct.pack(">H", 256), key=key)


class Refused(Exception):
    pass


def answer(bytes_: bytes, to: bytes) -> tuple[int, bytes]:
    """The tag and the fields; raises what the relay refuses."""
    assert bytes_[0] == 1 and bytes_[1:25] == to[1:25], bytes_
    tag, fields = bytes_[25], bytes_[26:]
    if tag == 2:
        raise Refused(CODES[fields[0]])
    return tag, fields


class Client:
    """What a person does at a relay. `exchange` takes the bytes of a request and returns those of the answer."""

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
            self.ask(acknowledge(mailbox, fields[:24]))
