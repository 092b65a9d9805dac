"""A relay's output in many forms (fuzz). `make verify` runs more of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


@unittest.skipIf("PORTER_NET_DRIVER" in os.environ, "it has no host's process")
class FuzzTests(unittest.TestCase):
    def test_news_headers_and_addresses_are_read_as_the_protocol_has_them(self) -> None:
        done = subprocess.run(
            ["make", "-s", "fuzz", f"PYTHON={sys.executable}", "RUNS=5000"], cwd=FOLDER, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr[-4_000:])
        counts = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
        self.assertEqual([int(count) >= 5000 for count in counts], [True, True, True], done.stderr[-4_000:])
