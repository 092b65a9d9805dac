"""The host's process (Tests/Support/net-test-driver), and the base of every test."""

from __future__ import annotations

import os
import queue
import shlex
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import NamedTuple

from . import certificates
from .server import PATIENCE, Server

REPOSITORY = Path(__file__).resolve().parents[3]
# The command; another build of the driver, or one under valgrind, can replace it.
COMMAND = shlex.split(os.environ.get("PORTER_NET_DRIVER", str(REPOSITORY / ".build/debug/net-test-driver")))

OK, ARGUMENT, SYSTEM, TIMEOUT = 0, 4, 7, 8
LONG = 30_000  # milliseconds, for an exchange that is answered


class Answer(NamedTuple):
    code: int
    failure: str
    body: bytes


class Driver:
    """Use it in a `with` block, at whose end the process must have exited successfully."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self.environment = environment
        self.lines: dict[str, queue.Queue[list[str]]] = {}
        self.lock = threading.Lock()
        self.number = 0

    def __enter__(self) -> Driver:
        environment = None if self.environment is None else os.environ | self.environment
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            self.say("quit")
            status = self.process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            status = self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        if failed is None and status != 0:
            raise AssertionError(f"the driver ended with {status}")

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            words = line.split()
            key = " ".join(words[:2]) if words[0] == "answer" else words[0]
            self.of(key).put(words)

    def of(self, key: str) -> queue.Queue[list[str]]:
        with self.lock:
            return self.lines.setdefault(key, queue.Queue())

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")

    def await_line(self, key: str) -> list[str]:
        return self.of(key).get(timeout=PATIENCE)

    def open(self, url: str, **options: object) -> None:
        self.say(" ".join(["open", url, *(f"{name}={value}" for name, value in options.items())]))
        self.await_line("opened")

    def refused(self, url: str, **options: object) -> int:
        self.say(" ".join(["open", url, *(f"{name}={value}" for name, value in options.items())]))
        return int(self.await_line("refused")[1])

    def start(self, request: bytes = b"hello", milliseconds: int = LONG) -> str:
        self.number += 1
        name = f"x{self.number}"
        self.say(f"exchange {name} {milliseconds} {request.hex()}")
        return name

    def finish(self, name: str) -> Answer:
        words = self.await_line(f"answer {name}")
        return Answer(int(words[2]), words[3], bytes.fromhex(words[4]) if len(words) > 4 else b"")

    def exchange(self, request: bytes = b"hello", milliseconds: int = LONG) -> Answer:
        return self.finish(self.start(request, milliseconds))

    def do(self, verb: str, answer: str) -> None:
        self.say(verb)
        self.await_line(answer)

    def suspend(self) -> None:
        self.do("suspend", "suspended")

    def resume(self) -> None:
        self.do("resume", "resumed")

    def sleep(self, seconds: int) -> None:
        """Makes the clock that counts the time asleep jump, and no other."""
        self.do(f"sleep {seconds}", "slept")

    def linger(self, milliseconds: int) -> None:
        """Makes each closing of connections take this long; "closing" is written when it begins."""
        self.do(f"linger {milliseconds}", "lingering")

    def patience(self) -> int:
        """How many milliseconds sent bytes may stay unacknowledged."""
        self.say("patience")
        return int(self.await_line("patience")[1])

    def counts(self, verb: str = "count") -> tuple[int, int]:
        """The numbers of sockets, and of threads besides the main one."""
        self.say(verb)
        words = self.await_line("count")
        return int(words[1]), int(words[2])

    def counts_at_rest(self) -> tuple[int, int]:
        return self.counts("settle")


class NetCase(unittest.TestCase):
    """A folder, a certificate, and addresses with its fingerprint."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.certificate = certificates.make(self.folder)

    def serve(self, **options: object) -> Server:
        return self.enterContext(Server(self.certificate, **options))  # type: ignore[arg-type]

    def drive(self, **environment: str) -> Driver:
        return self.enterContext(Driver(environment or None))

    def pinned(self, server: Server) -> str:
        return f"https://127.0.0.1:{server.port}#{self.certificate.fingerprint}"
