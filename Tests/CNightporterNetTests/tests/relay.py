"""An in-memory relay as in spec/protocol/relay.md, over relay-http.md, that shares no code with Nightporter: as much of it as two people
need to write to each other. For its handlers, see server.py.
"""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from .server import Request

CREATE, SECURE, SEND, GET, ACKNOWLEDGE, SUBSCRIBE, DELETE, CHECK, LISTEN, ARRIVALS, GET_WITH_AGE = (
    1, 2, 3, 4, 5, 6, 9, 14, 15, 16, 17,
)  # fmt: skip
DONE, AUTH, NO_MESSAGE, SYNTAX = b"\1", b"\2\1", b"\2\4", b"\2\5"
PREFIX = b"nightporter relay request 1\0"


class Refusal(Exception):
    """A refused request; the argument is the result."""


@dataclass
class Message:
    number: int
    identifier: bytes
    attempt: bytes
    flags: bytes
    body: bytes
    came: float


@dataclass
class Mailbox:
    recipient: bytes
    sender: bytes
    recipient_key: bytes
    sender_key: bytes | None
    messages: list[Message] = field(default_factory=list)
    attempts: set[bytes] = field(default_factory=set)
    listeners: set[str] = field(default_factory=set)
    listening_key: bytes | None = None


class Parts:
    """Reads a request from the front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise Refusal(SYNTAX)
        self.at += count
        return self.data[self.at - count : self.at]

    def optional(self, count: int) -> bytes | None:
        return self.take(count) if self.take(1) == b"\1" else None

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        for _ in range(struct.unpack(">H", self.take(2))[0]):
            yield self.take(24), self.take(64)


class Relay:
    """The relay's state, all of which belongs to the server's thread."""

    def __init__(self) -> None:
        self.mailboxes: dict[bytes, Mailbox] = {}
        self.numbers = 0
        self.news: dict[str, int] = {}
        self.changed = asyncio.Event()

    # Over HTTP

    async def exchange(self, request: Request) -> None:
        correlation = request.body[1:25].ljust(24, b"\0")
        try:
            result = self.carry_out(request.body, request.headers.get("porter-listener"))
        except Refusal as refusal:
            result = refusal.args[0]
        await request.answer(body=b"\1" + correlation + result)

    async def listen(self, request: Request) -> None:
        name = request.headers["porter-listener"]
        seen = int(request.headers.get("last-event-id", "a.0").partition(".")[2])
        await request.begin(content_type="text/event-stream")
        kind = "open"
        while True:
            now = self.news.get(name, 0)
            if now > seen or kind == "open":
                kind = "news" if now > seen else "open"
                await request.send(f"event: {kind}\nid: a.{now}\ndata: {kind}\n\n".encode())
                seen, kind = now, "news"
            await self.changed.wait()

    def tell(self, mailbox: Mailbox) -> None:
        for name in mailbox.listeners:
            self.news[name] = self.news.get(name, 0) + 1
        self.changed.set()
        self.changed = asyncio.Event()

    # Commands

    def carry_out(self, body: bytes, listener: str | None) -> bytes:
        parts = Parts(body)
        if parts.take(1) != b"\1":
            raise Refusal(b"\2\6")
        correlation, signature = parts.take(24), parts.optional(64)
        entity = parts.optional(24)
        signed = PREFIX + correlation + (b"\0" if entity is None else b"\1" + entity) + body[parts.at :]
        tag = parts.take(1)[0]

        def verify(key: bytes | None, signature: bytes | None = signature, text: bytes = signed) -> None:
            try:
                if key is None or signature is None:
                    raise Refusal(AUTH)
                VerifyKey(key).verify(text, signature)
            except BadSignatureError:
                raise Refusal(AUTH) from None

        if tag == CREATE:
            key = parts.take(32)
            verify(key)
            return self.create(key, parts.optional(32))
        if tag == SEND:
            mailbox = self.find("sender", entity)
            if mailbox.sender_key is not None or signature is not None:
                verify(mailbox.sender_key)
            return self.send(mailbox, parts)
        if tag in (SECURE, GET, GET_WITH_AGE, ACKNOWLEDGE, DELETE):
            mailbox = self.find("recipient", entity)
            verify(mailbox.recipient_key)
            return self.own(mailbox, tag, parts)
        if tag in (LISTEN, ARRIVALS):
            key = parts.take(32)
            verify(key)
            if tag == ARRIVALS:
                return self.arrivals(key, parts)
        elif tag in (SUBSCRIBE, CHECK):
            key = b""
        else:
            raise Refusal(SYNTAX)
        position = struct.pack(">Q", self.numbers).ljust(32, b"\0")
        results = []
        for recipient, entry in parts.entries():
            text = PREFIX + correlation + b"\1" + recipient + bytes([tag]) + key
            try:
                mailbox = self.find("recipient", recipient)
                verify(mailbox.recipient_key, entry, text)
            except Refusal:
                results.append(2)
                continue
            if tag != CHECK:
                mailbox.listening_key = key
                if listener is not None:
                    mailbox.listeners.add(listener)
            results.append(1 if mailbox.messages else 0)
        listed = struct.pack(">H", len(results)) + bytes(results)
        return b"\x09" + position + listed if tag == LISTEN else b"\5" + listed

    def find(self, end: str, identifier: bytes | None) -> Mailbox:
        for mailbox in self.mailboxes.values():
            if getattr(mailbox, end) == identifier:
                return mailbox
        raise Refusal(AUTH)

    def create(self, key: bytes, sender_key: bytes | None) -> bytes:
        mailbox = self.mailboxes.setdefault(key, Mailbox(os.urandom(24), os.urandom(24), key, sender_key))
        return b"\3" + mailbox.recipient + mailbox.sender

    def send(self, mailbox: Mailbox, parts: Parts) -> bytes:
        attempt, flags = parts.take(24), parts.take(1)
        if attempt not in mailbox.attempts:
            mailbox.attempts.add(attempt)
            self.numbers += 1
            body = parts.data[parts.at :]
            mailbox.messages.append(Message(self.numbers, os.urandom(24), attempt, flags, body, time.time()))
            self.tell(mailbox)
        return DONE

    def own(self, mailbox: Mailbox, tag: int, parts: Parts) -> bytes:
        if tag == SECURE:
            key = parts.take(32)
            if mailbox.sender_key not in (None, key):
                raise Refusal(AUTH)
            mailbox.sender_key = key
        elif tag == DELETE:
            del self.mailboxes[mailbox.recipient_key]
        elif not mailbox.messages:
            raise Refusal(NO_MESSAGE)
        elif tag == ACKNOWLEDGE:
            if mailbox.messages[0].identifier != parts.take(24):
                raise Refusal(NO_MESSAGE)
            mailbox.messages.pop(0)
        else:
            first = mailbox.messages[0]
            age = struct.pack(">I", int((time.time() - first.came) * 1000)) if tag == GET_WITH_AGE else b""
            timestamp = struct.pack(">q", int(first.came * 1000))
            kind = b"\x0b" if tag == GET_WITH_AGE else b"\4"
            return kind + first.identifier + timestamp + age + first.flags + first.body
        return DONE

    def arrivals(self, key: bytes, parts: Parts) -> bytes:
        position = struct.unpack(">Q", parts.take(32)[:8])[0]
        limit = struct.unpack(">H", parts.take(2))[0]
        mine = [mailbox for mailbox in self.mailboxes.values() if mailbox.listening_key == key]
        if not mine:
            raise Refusal(AUTH)
        found = sorted(
            (message.number, mailbox.recipient)
            for mailbox in mine
            for message in mailbox.messages
            if message.number > position
        )[:limit]
        last = found[-1][0] if found else self.numbers
        listed = b"".join(recipient for _, recipient in found)
        return b"\x0a" + struct.pack(">Q", last).ljust(32, b"\0") + struct.pack(">H", len(found)) + listed
