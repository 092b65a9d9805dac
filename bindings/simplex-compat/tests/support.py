"""Builds libsimplex.so next to the library that the tests run against."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
LIBRARY = os.environ.get("NIGHTPORTER_LIBRARY", str(REPOSITORY / ".build" / "debug" / "libnightporter.so"))


@functools.cache
def compat_folder() -> Path:
    """A folder for SIMPLEX_LIBS_DIR, made by the same rule as `make compat`."""
    folder = tempfile.mkdtemp(prefix="nightporter-compat-")
    atexit.register(shutil.rmtree, folder)
    subprocess.run(
        [
            *("make", "--no-print-directory", "-f", "bindings/simplex-compat/compat.mk", "compat-folder"),
            *(f"COMPAT={folder}", f"COMPAT_LIBRARY={LIBRARY}"),
        ],
        cwd=REPOSITORY,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return Path(folder)
