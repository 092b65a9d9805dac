"""Shared by the tests: the real library, its stand-in, and temporary stores."""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from nightporter._library import ENVIRONMENT, Library

Result = TypeVar("Result")

REPOSITORY = Path(__file__).resolve().parents[3]
os.environ.setdefault(ENVIRONMENT, str(REPOSITORY / ".build" / "debug" / "libnightporter.so"))


@functools.cache
def build_stand_in(*options: str) -> str:
    """Compiles tests/stand_in.c; the file stays until the process ends."""
    folder = tempfile.mkdtemp(prefix="nightporter-stand-in-")
    atexit.register(shutil.rmtree, folder)
    output = os.path.join(folder, "libstandin.so")
    source = Path(__file__).with_name("stand_in.c")
    warnings = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    command = [os.environ.get("CC", "cc"), *warnings, "-shared", "-fPIC", "-pthread", *options]
    subprocess.run([*command, f"-I{REPOSITORY / 'Include'}", str(source), "-o", output], check=True)
    return output


def run(story: Coroutine[Any, Any, Result]) -> Result:
    """Runs a story to its end, or fails it after a minute, since waiting for something lost would never end."""

    async def bounded() -> Result:
        async with asyncio.timeout(60):
            return await story

    return asyncio.run(bounded())


class StandInCase(unittest.TestCase):
    """Runs against the stand-in, and can read the order of its calls."""

    def setUp(self) -> None:
        loaded = Library(build_stand_in())
        for module in ("_calls", "_callbacks", "keys", "notifications", "strings", "validation", "machines"):
            patch = mock.patch(f"nightporter.{module}.library", lambda: loaded)
            patch.start()
            self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal_path = Path(folder.name) / "journal"
        self.environment(STAND_IN_JOURNAL=str(self.journal_path))

    def environment(self, **values: str) -> None:
        patch = mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)

    def journal(self) -> list[str]:
        """The calls that have ended so far, with runs of equal calls collapsed into one."""
        lines = [line for line in self.lines() if not line.startswith("began ")]
        return [line for index, line in enumerate(lines) if index == 0 or lines[index - 1] != line]

    def lines(self) -> list[str]:
        return self.journal_path.read_text().splitlines() if self.journal_path.exists() else []

    def await_begun(self, call: str, count: int = 1) -> None:
        """Waits until `count` calls have begun, however busy the machine is, and fails after a minute."""
        give_up = time.monotonic() + 60
        while self.lines().count(f"began {call}") < count:
            self.assertLess(time.monotonic(), give_up, f"{call} did not begin")
            time.sleep(0.002)

    async def begun(self, call: str, count: int = 1) -> None:
        """Like `await_begun`, on the event loop. `run` bounds the wait."""
        while self.lines().count(f"began {call}") < count:
            await asyncio.sleep(0.002)

    def await_last(self, call: str) -> None:
        """Waits until `call` is the latest call, and fails after a minute."""
        give_up = time.monotonic() + 60
        while self.journal()[-1] != call:
            self.assertLess(time.monotonic(), give_up, f"{self.journal()[-1]} stayed the latest call, not {call}")
            time.sleep(0.01)


class StoreCase(unittest.TestCase):
    """Runs against the real library, with a folder for its stores. Without a built library the test fails."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
