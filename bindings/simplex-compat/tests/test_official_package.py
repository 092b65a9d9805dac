"""The official package `simplex-chat`, unmodified, works on Nightporter, and gets answers that fit its types."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from .support import REPOSITORY, compat_folder

# The package looks for its library once, on first use.
os.environ["SIMPLEX_LIBS_DIR"] = str(compat_folder())

from simplex_chat import Client, Profile, SqliteDb, core
from simplex_chat.api import ChatApi

SHAPES = REPOSITORY / "Tests" / "PorterSchemaTests" / "peers" / "shapes.py"


class OfficialPackageTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.answers: list[tuple[str, Any]] = []

    def assert_answers_fit(self, count: int) -> None:
        """Checks every answer so far against the package's TypedDicts, with the checker of the Swift tests."""
        self.assertEqual(len(self.answers), count)
        lines = "".join(json.dumps(answer) + "\n" for answer in self.answers)
        result = subprocess.run([sys.executable, SHAPES], input=lines, capture_output=True, text=True, check=False)
        self.assertEqual(result.stdout, f"checked {count}\n", result.stderr)

    async def command(self, api: ChatApi, command: str) -> Any:
        answer = await api.send_chat_cmd(command)
        self.answers.append(("R.ChatResponse", answer))
        return answer

    def test_its_lifecycle_from_init_to_close(self) -> None:
        async def story() -> None:
            api = await ChatApi.init(SqliteDb(str(self.folder / "alice")))
            self.assertIsNone(await api.api_get_active_user())
            user = await api.api_create_active_user({"displayName": "alice", "fullName": "Alice"})
            self.answers.append(("T.User", user))
            self.assertEqual(user["profile"]["displayName"], "alice")
            await api.start_chat()
            self.assertTrue(api.started)
            users = await api.api_list_users()
            self.answers += [("T.UserInfo", info) for info in users]
            self.assertEqual([info["user"]["userId"] for info in users], [user["userId"]])
            self.assertEqual((await self.command(api, "/_check running"))["type"], "chatRunning")
            self.assertEqual((await self.command(api, "/u"))["user"]["userId"], user["userId"])
            self.assertEqual((await self.command(api, "/users"))["type"], "usersList")
            await api.stop_chat()
            self.assertEqual((await self.command(api, "/_check running"))["type"], "chatStopped")
            await api.close()
            self.assertFalse(api.initialized)

        asyncio.run(story())
        self.assert_answers_fit(6)

    def test_what_one_run_wrote_the_next_one_finds(self) -> None:
        async def run() -> Any:
            client = Client(profile=Profile(display_name="alice"), db=SqliteDb(str(self.folder / "alice")))
            async with client:
                return await client.api.api_get_active_user()

        first, second = asyncio.run(run()), asyncio.run(run())
        self.assertEqual(first["userId"], second["userId"])
        self.answers = [("T.User", first), ("T.User", second)]
        self.assert_answers_fit(2)

    def test_its_errors_are_raised_with_their_kinds(self) -> None:
        async def story() -> None:
            api = await ChatApi.init(SqliteDb(str(self.folder / "alice")))
            try:
                with self.assertRaises(core.ChatAPIError) as caught:
                    await api.send_chat_cmd("/no such command")
                self.answers.append(("T.ChatError", caught.exception.chat_error))
                self.assertEqual(caught.exception.chat_error["errorType"]["type"], "commandError")
            finally:
                await api.close()
            (self.folder / "broken_chat.db").write_bytes(b"this is no database, not even nearly" * 200)
            with self.assertRaises(core.ChatInitError) as refused:
                await ChatApi.init(SqliteDb(str(self.folder / "broken")))
            self.assertEqual(refused.exception.db_migration_error["type"], "errorNotADatabase")

        asyncio.run(story())
        self.assert_answers_fit(1)

    def test_files_are_refused_in_their_own_form(self) -> None:
        async def story() -> None:
            api = await ChatApi.init(SqliteDb(str(self.folder / "alice")))
            arguments = {"fileKey": "k", "fileNonce": "n"}
            for call in (
                core.chat_write_file(api.ctrl, "to", b"data"),
                core.chat_read_file("from", arguments),
                core.chat_encrypt_file(api.ctrl, "from", "to"),
                core.chat_decrypt_file("from", arguments, "to"),
            ):
                with self.assertRaisesRegex(RuntimeError, "it has no files"):
                    await call
            await api.close()

        asyncio.run(story())
