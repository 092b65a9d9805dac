"""Fills stores, relays and servers with rows to measure growth: copies of existing ones, made in SQL."""

from __future__ import annotations

import ctypes
import secrets
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from .world import PATIENCE


def copy_rows(store: sqlite3.Connection, table: str, count: int, template: str, replaced: dict[str, str]) -> None:
    """Adds `count` copies of the row that `template` selects; `replaced` has SQL for some columns, where n is the copy's number."""
    schema, _, bare = table.rpartition(".")
    columns = [row[1] for row in store.execute(f"PRAGMA {schema or 'main'}.table_info({bare})")]
    values = ", ".join(replaced.get(column, f"template.{column}") for column in columns)
    store.execute(
        f"""
        INSERT INTO {table} ({", ".join(columns)})
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        SELECT {values} FROM number, (SELECT * FROM {table} WHERE {template} LIMIT 1) AS template
        """,
        (count,),
    )


def count(store: sqlite3.Connection, table: str) -> int:
    found: int = store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return found


def fill(path: Path, table: str, size: int, change: Callable[[sqlite3.Connection, int], None]) -> None:
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as store, store:
        store.execute("PRAGMA synchronous=OFF")
        if (missing := size - count(store, table)) > 0:
            change(store, missing)


def add_contacts(store: sqlite3.Connection, missing: int) -> None:
    (contact,) = store.execute("SELECT max(contact_id) FROM contacts").fetchone()
    copy_rows(
        store,
        "contacts",
        missing,
        "contact_id = 1",
        {"contact_id": f"{contact} + n", "local_name": f"'copy ' || ({contact} + n)"},
    )
    made = {"connection_id": "NULL", "contact_id": f"{contact} + n", "epoch": "0", "owner": "NULL", "unread": "0"}
    made |= {name: "randomblob(24)" for name in ("agent_id", "recipient_id", "sender_id", "peer_sender_id")}
    made |= {name: "NULL" for name in ("notifier_id", "notifier_key", "notifier_box_key", "notifier_secret")}
    copy_rows(store, "connections", missing, "connection_id = 1", made | {"subscription": "'off'"})


def make_mailboxes(store: sqlite3.Connection, relay: Path) -> None:
    """Gives copied connections mailboxes that the relay knows, each with its own key, as the relay requires."""
    sodium = ctypes.CDLL("libsodium.so.23")
    (public, secret) = (ctypes.create_string_buffer(32), ctypes.create_string_buffer(64))
    with closing(sqlite3.connect(relay, timeout=PATIENCE)) as file, file:
        known = {recipient for (recipient,) in file.execute("SELECT recipient FROM mailbox")}
        for number, recipient in store.execute("SELECT connection_id, recipient_id FROM connections").fetchall():
            if recipient in known:
                continue
            sodium.crypto_sign_keypair(public, secret)
            mailbox = (recipient, public.raw, secrets.token_bytes(24))
            file.execute("INSERT INTO mailbox (recipient, recipient_key, sender, created_at) VALUES (?, ?, ?, 0)", mailbox)
            store.execute("UPDATE connections SET recipient_key = ? WHERE connection_id = ?", (secret.raw, number))


def add_ledger(store: sqlite3.Connection, missing: int) -> None:
    made = {"entry_id": "NULL", "message_id": "randomblob(24)", "state": "'read'", "item_id": "NULL"}
    copy_rows(store, "ledger", missing, "state IN ('presented', 'read')", made)


def add_outbox(store: sqlite3.Connection, missing: int) -> None:
    store.execute(
        """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        INSERT INTO outbox (connection_id, purpose, signed, notify, body, deduplication)
        SELECT 1, 'message', 1, 0, randomblob(500), randomblob(24) FROM number
        """,
        (missing,),
    )


def add_skipped_keys(store: sqlite3.Connection, missing: int) -> None:
    (newest,) = store.execute("SELECT coalesce(max(sequence), -1) FROM skipped_keys").fetchone()
    store.execute(
        """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        INSERT INTO skipped_keys (connection_id, sequence, stored) SELECT 1, ? + n, randomblob(68) FROM number
        """,
        (missing, newest),
    )


def add_profiles(store: sqlite3.Connection, missing: int) -> None:
    (user,) = store.execute("SELECT max(user_id) FROM users").fetchone()
    made = {"user_id": f"{user} + n", "display_name": f"'copy ' || ({user} + n)", "active": "0", "unread": "0"}
    copy_rows(store, "users", missing, "user_id = 1", made)


def add_log(path: Path, pages: int) -> None:
    """Adds a log as a killed process leaves it: this many pages, none of them written back."""
    program = """
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA wal_autocheckpoint=0")
store.execute("PRAGMA synchronous=OFF")
for _ in range(int(sys.argv[2])):
    # Not what is there already: SQLite writes no page that stays as it is.
    store.execute("UPDATE users SET full_name = CASE full_name WHEN 'a' THEN 'b' ELSE 'a' END")
    store.commit()
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program, path, str(pages)], check=True)


def add_tokens(store: sqlite3.Connection, missing: int) -> None:
    made = {"number": "NULL", "id": "randomblob(24)", "push_token": "randomblob(32)", "signing_key": "randomblob(32)"}
    # With another provider, so none of them gets pushes.
    copy_rows(store, "token", missing, "state = 'active'", made | {"provider": "'apns_dev'", "period": "60"})
    store.execute("UPDATE token SET wake_series = number + 1000000000 WHERE provider = 'apns_dev' AND wake_series = 0")
    store.execute(
        """
        INSERT OR IGNORE INTO wake (due_at, token, series, woken_at)
        SELECT unixepoch() * 1000 + 3600000, number, wake_series, unixepoch() * 1000 FROM token WHERE provider = 'apns_dev'
        """
    )


def add_subscriptions(store: sqlite3.Connection, missing: int) -> None:
    copy_rows(store, "subscription", missing, "true", {"number": "NULL", "notifier": "randomblob(24)"})
