"""Trouble that tests make around a program: its wall clock, its disk."""

import os
import subprocess
import time
import unittest.mock
from pathlib import Path

from .support import PATIENCE, Relay, RelayTestCase

WALL_CLOCK = Path(__file__).parents[1] / "wall_clock.c"
HANGING_DISK = Path(__file__).parents[1] / "hanging_disk.c"


class TroubleTestCase(RelayTestCase):
    def health(self, relay: Relay, until: str) -> None:
        """Waits until /health contains the text."""
        end = time.monotonic() + PATIENCE
        while until not in (text := relay.operator("/health")[1]):
            self.assertIsNone(relay.process.poll())
            self.assertLess(time.monotonic(), end, text)

    def works(self, relay: Relay, mailbox=None, before: tuple[bytes, ...] = ()):
        person = self.person(relay)
        mailbox = mailbox or person.mailbox()
        person.send(mailbox, b"through")
        self.assertEqual(person.take_all(mailbox), [*before, b"through"])
        return mailbox


def preloaded(source: Path, folder: str) -> str:
    """Builds a library to preload into a process."""
    library = f"{folder}/{source.stem}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, source, "-ldl"], check=True)
    return library


class WallClock:
    """The wall clock of processes started with `environment`, which a test can move."""

    def __init__(self, folder: str):
        library = preloaded(WALL_CLOCK, folder)
        self.offset = Path(folder, "offset")
        self.move(0)
        self.environment = unittest.mock.patch.dict(
            os.environ, {"LD_PRELOAD": library, "WALL_CLOCK_OFFSET": str(self.offset)})

    def move(self, seconds: int) -> None:
        """Moves the clock to this offset from the right time."""
        new = self.offset.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self.offset)


class HangingDisk:
    """The disk of processes that are started in its context. While it hangs, it takes no sync and reports no error."""

    def __init__(self, folder: str):
        self.file = Path(folder, "hanging")
        self.environment = unittest.mock.patch.dict(
            os.environ, {"LD_PRELOAD": preloaded(HANGING_DISK, folder), "HANGING_DISK": str(self.file)})

    def __enter__(self) -> "HangingDisk":
        self.environment.start()
        return self

    def __exit__(self, *_) -> None:
        self.environment.stop()

    def hang(self) -> None:
        self.file.touch()

    def resume(self) -> None:
        self.file.unlink()
