"""A night in miniature: a relay, a notification server, one sender, and any number of sleeping devices."""

from __future__ import annotations

import json
import os
import queue
import secrets
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Self

from nightporter import Role, SyncController

PATIENCE = 20.0


class PushSocket:
    """The socket to which the notification server's local provider delivers its pushes: one JSON object per line,
    answered with a status.
    """

    def __init__(self, path: Path) -> None:
        self.pushes: dict[str, queue.Queue[str]] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(8)
        threading.Thread(target=self._accept, daemon=True).start()

    def expect(self, token: str) -> None:
        self.pushes[token] = queue.Queue()

    def take(self, token: str) -> str:
        """Waits for the next push to this token; returns its payload in one line."""
        return self.pushes[token].get(timeout=PATIENCE)

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rw", encoding="utf-8") as lines:
            for line in lines:
                push = json.loads(line)
                self.pushes[push["token"]].put(json.dumps(push["payload"]))
                lines.write('{"status":200}\n')
                lines.flush()


class Device:
    """A sleeping device: a profile connected with the sender, whose token is active and whose app is closed."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.prefix = world.folder / name
        self.token = secrets.token_hex(32)
        # The sender's contact numbers for this device: of their only conversation, and of all.
        self.contact = 0
        self.contacts: list[int] = []

    @property
    def store(self) -> Path:
        return self.prefix.with_name(self.prefix.name + "_chat.db")

    def push(self, text: str) -> str:
        """Makes the sender write to this device; returns the payload of the resulting push."""
        message = [{"msgContent": {"type": "text", "text": text}, "mentions": {}}]
        self.world.sender.send(f"/_send @{self.contact} json {json.dumps(message)}")
        payload = self.world.socket.take(self.token)
        self.world.await_acknowledged()
        return payload

    def empty_log(self) -> None:
        """Moves the write-ahead log into the store's file and leaves it empty."""
        with sqlite3.connect(self.store) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()

    def log_size(self) -> int:
        """The bytes in the write-ahead log."""
        return self.store.with_name(self.store.name + "-wal").stat().st_size

    def fill(self, count: int) -> None:
        """Brings the store to `count` received messages, every tenth unread, without going through the relay."""
        with sqlite3.connect(self.store) as store:
            store.execute("PRAGMA synchronous=OFF")
            (have,) = store.execute("SELECT count(*) FROM items WHERE sent = 0").fetchone()
            missing = count - have
            if missing <= 0:
                return
            (first,) = store.execute("SELECT coalesce(max(item_id), 0) + 1 FROM items").fetchone()
            (entry,) = store.execute("SELECT coalesce(max(entry_id), 0) + 1 FROM ledger").fetchone()
            store.execute(
                """
                INSERT INTO items
                  (item_id, ledger_entry, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at)
                WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
                SELECT ?2 + n, ?3 + n, contact_id, sent, content, CASE n % 10 WHEN 0 THEN 'rcvNew' ELSE 'rcvRead' END,
                       randomblob(12), item_at, created_at, updated_at
                FROM number, (SELECT * FROM items WHERE sent = 0 ORDER BY item_id DESC LIMIT 1)
                """,
                (missing, first, entry),
            )
            store.execute(
                """
                INSERT INTO ledger
                  (entry_id, connection_id, message_id, message_at, state, kind, contact_id, item_id, created_at)
                SELECT items.ledger_entry, entry.connection_id, randomblob(24), entry.message_at,
                       CASE items.status WHEN 'rcvNew' THEN 'presented' ELSE 'read' END, entry.kind,
                       items.contact_id, items.item_id, entry.created_at
                FROM items, (SELECT * FROM ledger WHERE item_id IS NOT NULL ORDER BY entry_id DESC LIMIT 1) AS entry
                WHERE items.item_id >= ?1
                """,
                (first,),
            )
            unread = (missing + 9) // 10
            store.execute("UPDATE users SET unread = unread + ?", (unread,))
            store.execute(
                """
                UPDATE connections SET unread = unread + ?
                WHERE contact_id = (SELECT contact_id FROM items WHERE item_id = ?)
                """,
                (unread, first),
            )
        store.close()


class World:
    """Everything that runs alongside the measured program. A context manager: at its end all processes have ended."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self.relay = folder / "relay.db"
        # A socket's path must be short; the folder's may be long.
        self.socket_path = Path(os.path.relpath(folder / "push.socket"))
        self.socket = PushSocket(self.socket_path)
        with open(folder / "server.log", "wb") as log:
            self.server = subprocess.Popen(
                [
                    server,
                    *("--relay", self.relay, "--state", folder / "server.db"),
                    *("--local-socket", self.socket_path),
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.server.stdout is not None
        self.link = self.server.stdout.readline().strip()
        if not self.link.startswith("ntf:"):
            raise RuntimeError(f"the notification server did not start; see {folder / 'server.log'}")
        self.sender = self.app("sender")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sender.close()
        self.server.terminate()
        self.server.wait(PATIENCE)

    def app(self, name: str) -> SyncController:
        """Starts an app with a new profile."""
        app = SyncController(self.folder / name).open()
        profile = {"profile": {"displayName": name, "fullName": ""}}
        app.send(f"/_create user {json.dumps(profile)}")
        app.send(f"/_network {json.dumps({'relay': str(self.relay), 'ntfServer': self.link})}")
        app.send("/_start")
        return app

    def device(self, name: str, conversations: int = 1) -> Device:
        """Sets up a device, to the point where its app is closed and a push can come."""
        device = Device(self, name)
        app = self.app(name)
        user = app.send("/u")["user"]["userId"]
        for _ in range(conversations):
            link = app.send(f"/_connect {user}")["connLinkInvitation"]["connFullLink"]
            self.sender.send(f"/connect {link}")
            device.contacts.append(wait_for(self.sender, "contactConnected")["contact"]["contactId"])
            wait_for(app, "contactConnected")
        device.contact = device.contacts[0]
        self.socket.expect(device.token)
        app.send(f"/_ntf register apns_test {device.token} INSTANT")
        data = json.loads(self.socket.take(device.token))["notificationData"]
        app.send(f"/_ntf verify apns_test {device.token} {data['nonce']} {data['verification']}")
        status = app.send(f"/_ntf check apns_test {device.token}")["status"]
        if status != "ACTIVE":
            raise RuntimeError(f"{name}'s token is {status}")
        wait_until_subscribed(app)
        app.suspend()
        app.close()
        return device

    def await_acknowledged(self) -> None:
        """Waits until the server has acknowledged what it has pushed. In production the relay's file is on another machine,
        and no push waits for the server or does its work.
        """
        relay = sqlite3.connect(f"{self.relay.absolute().as_uri()}?mode=ro", uri=True)
        try:
            give_up = time.monotonic() + PATIENCE
            while relay.execute("SELECT EXISTS (SELECT 1 FROM notification)").fetchone() != (0,):
                if time.monotonic() > give_up:
                    raise RuntimeError("the notification server acknowledges nothing")
                time.sleep(0.001)
        finally:
            relay.close()

    def extension(self, device: Device) -> SyncController:
        """An extension, to use in a `with` or to open."""
        return SyncController(device.prefix, role=Role.EXTENSION)


def wait_for(app: SyncController, kind: str) -> Any:
    for event in app.events(timeout=PATIENCE):
        if event["type"] == kind:
            return event
    raise RuntimeError(f"no event {kind} came")


def wait_until_subscribed(app: SyncController) -> None:
    """Waits until the server knows which mailbox to watch, which the app arranges by itself."""
    for _ in range(200):
        if app.state()["machines"].get("token_status") == "active" and not any(
            "answers of the notification server" in hold for hold in app.state()["holds"]
        ):
            return
        app.next_event(timeout=0.05)
    raise RuntimeError("the notification server does not answer")
