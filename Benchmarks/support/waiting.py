"""Many waiting messages, handled by one push into a new process, as on a phone that was off for a night."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from .curves import WAKE
from .figures import Row
from .programs import Measure
from .world import PATIENCE, Device, World

# For the whole process, and per message.
MEGABYTES, MILLISECONDS = 9.0, 0.35
# A mailbox holds at most 128 messages.
CONVERSATIONS = 8


def waiting_messages(world: World, measure: Measure, program: Path, count: int, rounds: int) -> list[Row]:
    """`program` is the harness. The push wakes an extension, which fetches the waiting messages of each mailbox."""
    device = world.device("waiting", CONVERSATIONS)
    words: list[str | Path] = [program, "extension", "--store", device.prefix]
    peaks, times, received = [], [], 0
    # The first message of a conversation turns its ratchet.
    for each in [1, *[count // CONVERSATIONS] * rounds]:
        send(world, device, each)
        run = measure.run(words, WAKE)
        received += each * CONVERSATIONS
        answer = json.loads(run.output)
        if answer["outcome"] != "presented" or answer["badge"] != received:
            raise RuntimeError(f"{answer['outcome']} ({answer['reason']}), badge {answer['badge']} of {received}")
        peaks.append(run.peak)
        times.append(run.first_line / (each * CONVERSATIONS))
    return [
        Row("waiting-memory", f"peak memory, {count:,} waiting", "MB", peaks[1:], limit=MEGABYTES),
        Row("waiting-time", f"each of {count:,} waiting, in memory", "ms", times[1:], limit=MILLISECONDS),
    ]


def send(world: World, device: Device, each: int) -> None:
    """Sends `each` messages in every conversation, and waits until all are at the relay."""
    for contact in device.contacts:
        message = [{"msgContent": {"type": "text", "text": f"message {number}"}, "mentions": {}} for number in range(each)]
        world.sender.send(f"/_send @{contact} json {json.dumps(message)}")
    end = time.monotonic() + PATIENCE
    while waiting(world) < each * len(device.contacts):
        if time.monotonic() > end:
            raise RuntimeError(f"{waiting(world)} messages of {each * len(device.contacts)} came to the relay")
        time.sleep(0.05)


def waiting(world: World) -> int:
    """The number of waiting messages, all of one device."""
    with closing(sqlite3.connect(world.relay, timeout=PATIENCE)) as relay:
        found: int = relay.execute("SELECT count(*) FROM message WHERE body IS NOT NULL").fetchone()[0]
        return found
