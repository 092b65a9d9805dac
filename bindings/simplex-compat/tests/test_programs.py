"""Whole programs for the official package run unmodified on libsimplex.so, in their own processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest

from .support import REPOSITORY, compat_folder

FOLDER = REPOSITORY / "bindings" / "simplex-compat"


class ProgramTests(unittest.TestCase):
    def run_program(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "SIMPLEX_LIBS_DIR": str(compat_folder())}
        return subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def test_the_bot_of_the_packages_readme_and_one_with_a_menu(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            played = self.run_program(str(FOLDER / "bots" / "play.py"), folder)
        self.assertEqual(played.returncode, 0, played.stdout + played.stderr)
        self.assertEqual(played.stdout.count("held: "), 13, played.stdout)

    def test_every_command_of_the_package_is_answered_as_coverage_says(self) -> None:
        checked = self.run_program(str(FOLDER / "tools" / "coverage.py"), "--check")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_a_database_of_another_engine_is_refused_and_its_address_no_passphrase(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = f"""
import asyncio
from simplex_chat import PostgresDb, core
from simplex_chat.api import ChatApi
try:
    asyncio.run(ChatApi.init(PostgresDb("postgresql://user@host/name", {folder + "/store"!r})))
except core.ChatInitError as error:
    print(error.db_migration_error["type"])
"""
            refused = self.run_program("-c", program)
            self.assertTrue(refused.stdout.startswith("error"), refused.stdout + refused.stderr)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
