"""Processes that are frozen and thawed."""

import signal
import subprocess
import time
from pathlib import Path


def freeze(process: subprocess.Popen) -> None:
    """Returns when all its threads are stopped: the first one that gets the signal passes it to the others, and on a busy machine some run until then."""
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + 30
    while not is_stopped(process):
        assert process.poll() is None and time.monotonic() < deadline, "it does not stop"
        time.sleep(0.001)


def is_stopped(process: subprocess.Popen) -> bool:
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            state = (thread / "stat").read_text()
        except OSError:
            # A thread may have ended since it was listed.
            continue
        if state.rsplit(")", 1)[1].split()[0] != "T":
            return False
    return True


def thaw(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGCONT)
