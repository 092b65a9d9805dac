"""The pushes by which `make order` learns what an extension runs."""

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

# In each of two conversations: the log is written back once.
WAITING = 40

# Between two pushes that are traced, so that what the store's pages need now and then is among what they do.
BETWEEN = 7

# The path of a group's container is as long on a phone. Some of what is done with a path is only done with a long one.
GROUP = "group-0B2D7E64-5C3A-4F0E-9A41-8D6C1E0F7B25-"


@dataclass
class Push:
    # "message", "network", "sealed" or "waiting"
    kind: str
    # What follows the program's name.
    arguments: list[str | Path]
    payload: str

    def taken_by(self, command: list[str | Path]) -> None:
        """A program, or a tool and a program."""
        result = subprocess.run([*command, *self.arguments], input=self.payload + "\n", capture_output=True, text=True, check=True)
        # A relay that knows no mailbox has nothing to present.
        if self.kind != "network" and json.loads(result.stdout)["outcome"] != "presented":
            raise RuntimeError(f"a push ended otherwise: {result.stdout[:500]}")


def pushes(world: World, program: Path, messages: int, relay: Path | None) -> Iterator[Push]:
    """Each is to be taken, by `program` or one like it, before the next is asked for. The first message of a conversation turns its ratchet.
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
        # The message is still at the other relay.
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
    """The address of a relay that knows no mailbox: its refusals take the same way as its answers."""
    words = [program, "serve", "--data", folder / "relay", "--listen", "127.0.0.1:0", "--operators", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as relay:
        try:
            assert relay.stdout is not None
            yield relay.stdout.readline().strip()
        finally:
            relay.terminate()
