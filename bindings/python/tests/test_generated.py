"""The generated files are up to date."""

from __future__ import annotations

import subprocess
import sys
import unittest

from .support import REPOSITORY

TOOLS = REPOSITORY / "bindings" / "python" / "tools"


class GeneratedTests(unittest.TestCase):
    def test_the_interface_is_that_of_the_header(self) -> None:
        self.check("generate_interface.py")

    def test_the_types_are_those_of_the_schemas(self) -> None:
        self.check("generate_types.py")

    def check(self, tool: str) -> None:
        result = subprocess.run([sys.executable, TOOLS / tool, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
