"""The pushes that `make order` traces to learn what an extension runs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .curves import WAKE
from .pushes import Taken
from .sealed import SEALED
from .sealed_push import KEY, seal
from .waiting import send
from .world import World

# In each of two conversations, so that the log is written back once.
WAITING = 40

# Pushes between two traced ones, so that the traces include occasional work on the store's pages.
BETWEEN = 7

# As long as the path of a group's container on a phone, since some code runs only for long paths.
GROUP = "group-0B2D7E64-5C3A-4F0E-9A41-8D6C1E0F7B25-"


@dataclass
class Push:
    # "message", "network", "sealed" or "waiting"
    kind: str
    # The arguments after the program's name.
    arguments: list[str | Path]
    payload: str

    def taken_by(self, command: list[str | Path]) -> None:
        """Hands the push to a command: a program, or a tool and a program."""
        result = subprocess.run([*command, *self.arguments], input=self.payload + "\n", capture_output=True, text=True, check=True)
        # With a relay that knows no mailbox there is nothing to present.
        if self.kind != "network" and json.loads(result.stdout)["outcome"] != "presented":
            raise RuntimeError(f"a push ended otherwise: {result.stdout[:500]}")


def pushes(world: World, program: Path, messages: int, relay: Path | None) -> Iterator[Push]:
    """The pushes. `program`, or one like it, must take each before the next is requested. The first message of a conversation turns its ratchet.
    The last push is about one message again.
    """
    phone = Taken(world.device("phone"))
    words: list[str | Path] = ["extension", "--store", phone.device.prefix]
    for number in range(messages):
        for _ in range(BETWEEN if number > 1 else 0):
            Push("message", words, phone.next()).taken_by([program])
        yield Push("message", words, phone.next())
    if relay is not None:
        with serving(relay, world.folder) as address:
            yield Push("network", [*words, "--relay", address], phone.next())
        # The message is still on the other relay.
        Push("message", words, phone.next()).taken_by([program])
    sealed = Taken(world.device("sealed"))
    seal(program, sealed.device, SEALED["xchacha"])
    for _ in range(2):
        yield Push("sealed", ["extension", "--store", sealed.device.prefix, "--key", KEY], sealed.next())
    tablet = world.device("tablet", 2)
    for each in (1, WAITING):
        send(world, tablet, each)
        yield Push("waiting", ["extension", "--store", tablet.prefix], WAKE)
    yield Push("message", words, phone.next())


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[str]:
    """The address of a relay that knows no mailbox: its refusals take the same path as its answers."""
    words = [program, "serve", "--data", folder / "relay", "--listen", "127.0.0.1:0", "--operators", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as relay:
        try:
            assert relay.stdout is not None
            yield relay.stdout.readline().strip()
        finally:
            relay.terminate()
