"""One push into a sealed store against one into a plain store, with each cipher: instructions, and time."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from .counts import CountedRun
from .figures import Row
from .programs import Answerer
from .pushes import SETTLE
from .sealed import SEALED
from .world import Device, World

KEY = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'"
BUDGET = 1.15
# Each store with the extension that has its cipher: with the system's libsodium, and with a newer one.
EXTENSIONS = {"plain": "system", "xchacha": "system", "aegis": "newer"}
# Pushes before the ones that count: the first turns the ratchet.
WARM_UP = 2


def seal(program: Path, device: Device, cipher: str) -> None:
    script = f"""
np_set_cipher "{cipher}"
a = chat_migrate_init_key "{device.prefix}" "" 1 "yesUp" 0
np_change_key $a "" "{KEY}"
expect "cmdOk"
chat_close_store $a
"""
    subprocess.run([program, "script", "-"], input=script, text=True, capture_output=True, check=True)


def shorten_log(program: Path, device: Device, key: str) -> None:
    """Makes an app write the log back, since its length decides how much of it the next process reads."""
    script = f"""
a = chat_migrate_init_key "{device.prefix}" "{key}" 1 "yesUp" 0
chat_close_store $a
"""
    subprocess.run([program, "script", "-"], input=script, text=True, capture_output=True, check=True)


def check(answer: str) -> None:
    found = json.loads(answer)
    if found["outcome"] != "presented":
        raise RuntimeError(f"a push ended as {found['outcome']}: {found['reason']}")


def sealed_pushes(world: World, folder: Path, programs: dict[str, Path], runs: int) -> list[Row]:
    """The rows for each cipher. `programs`: the extension with each libsodium."""
    devices = {store: world.device(f"sealed-{store}") for store in EXTENSIONS}
    words: dict[str, list[str | Path]] = {}
    for store, device in devices.items():
        program = programs[EXTENSIONS[store]]
        words[store] = [program, "extension", "--store", device.prefix]
        if store != "plain":
            seal(program, device, SEALED[store])
            words[store] += ["--key", KEY]

    def payload(store: str) -> str:
        text = devices[store].push("hello")
        time.sleep(SETTLE)
        return text

    run = CountedRun(folder)
    instructions: dict[str, list[float]] = {store: [] for store in devices}
    for number in range(WARM_UP + max(3, runs // 10)):
        for store, (program, *arguments) in words.items():
            shorten_log(programs[EXTENSIONS[store]], devices[store], "" if store == "plain" else KEY)
            check(run.plain(words[store], payload(store)))
            if number < WARM_UP:
                continue
            profile, answer = run.profile([run.program(Path(program)), *arguments], payload(store))
            check(answer)
            instructions[store].append(profile.instructions / 1e6)
    times: dict[str, list[float]] = {store: [] for store in devices}
    with ExitStack() as stack:
        extensions = {store: stack.enter_context(Answerer(line)) for store, line in words.items()}
        for number in range(WARM_UP + runs):
            for store in list(devices) if number % 2 == 0 else reversed(devices):
                took, answer = extensions[store].ask(payload(store))
                check(answer)
                if number >= WARM_UP:
                    times[store].append(took)
    rows = []
    for store, cipher in SEALED.items():
        beside = "the same push into a plain store"
        for key, what, unit, found in (
            ("instructions", "push into a new process", "M instructions", instructions),
            ("time", "push into a running process", "ms", times),
        ):
            row = f"sealed-push-{key}-{store}"
            rows.append(Row(row, f"{what}, {cipher}", unit, found[store], found["plain"], beside, BUDGET))
    return rows
