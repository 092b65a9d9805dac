"""libsimplex.so exports every symbol that programs look up, and reports what is not implemented."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from .support import REPOSITORY, compat_folder

AROUND = {
    *("hs_init", "hs_init_with_rtsopts", "hs_exit", "haskell_init", "haskell_init_nse", "haskell_init_se"),
    *("chat_write_file", "chat_read_file", "chat_encrypt_file", "chat_decrypt_file"),
    *("chat_encrypt_media", "chat_decrypt_media", "chat_send_remote_cmd", "chat_send_remote_cmd_retry"),
}


class LibraryTests(unittest.TestCase):
    def setUp(self) -> None:
        self.path = compat_folder() / "libsimplex.so"
        self.library = ctypes.CDLL(str(self.path))

    def text(self, function: str, *arguments: object) -> str:
        call = getattr(self.library, function)
        call.restype = ctypes.c_void_p
        address = call(*arguments)
        try:
            return ctypes.string_at(address).decode()
        finally:
            free = ctypes.CDLL(None).free
            free.argtypes = [ctypes.c_void_p]
            free(address)

    def test_it_shows_the_headers_chat_functions_and_the_ones_around(self) -> None:
        header = (REPOSITORY / "Include" / "nightporter.h").read_text()
        header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
        declared = set(re.findall(r"^\w[\w\s*]*?\b(chat_\w+)\(", header, re.MULTILINE))
        listing = subprocess.run(["nm", "-D", "--defined-only", self.path], check=True, capture_output=True, text=True)
        exported = {line.split()[-1] for line in listing.stdout.splitlines()}
        self.assertGreater(len(declared), 10)
        self.assertEqual(exported, declared | AROUND)

    def test_a_call_reaches_nightporter(self) -> None:
        self.assertEqual(self.library.chat_json_length("né\n".encode()), 5)
        self.assertEqual(self.text("chat_valid_name", b"alice"), "alice")
        handle = ctypes.c_void_p()
        answer = self.text("chat_migrate_init", b"/nowhere", b"", b"perhaps", ctypes.byref(handle))
        self.assertEqual(json.loads(answer), {"type": "invalidConfirmation"})
        self.assertIsNone(handle.value)

    def invite(self, folder: str, name: str) -> None:
        handle = self.open(folder, name)
        for command in ('/_create user {"profile":{"displayName":"alice","fullName":""}}', "/_start", "/_connect 1"):
            answer = json.loads(self.text("chat_send_cmd", handle, command.encode()))
            self.assertIn("result", answer, command)
        self.assertEqual(self.text("chat_close_store", handle), "")

    def test_a_store_without_a_relay_gets_one_in_its_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.invite(folder, "alice")
            self.assertTrue(os.path.exists(f"{folder}/nightporter.relay"))

    def test_the_environment_names_another_relay(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            relay = f'{folder}/a "relay"'
            with mock.patch.dict(os.environ, NIGHTPORTER_RELAY=relay):
                self.invite(folder, "alice")
            self.assertTrue(os.path.exists(relay))
            # It was stored: the relay in the folder is for stores that name none.
            self.invite_again(folder, "alice")
            self.assertFalse(os.path.exists(f"{folder}/nightporter.relay"))

    def test_standard_error_names_the_relay_that_is_in_use(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, NIGHTPORTER_RELAY=f"{folder}/other"):
                first = self.told(folder, "alice")
            self.assertEqual(first, f"nightporter: the relay is {folder}/other\n")
            # The store names it; another store uses the one in the folder.
            self.assertEqual(self.told(folder, "alice"), first)
            self.assertEqual(self.told(folder, "bob"), f"nightporter: the relay is {folder}/nightporter.relay\n")

    def told(self, folder: str, name: str) -> str:
        """The text written to standard error while a store is opened."""
        with tempfile.TemporaryFile() as written:
            usual = os.dup(2)
            os.dup2(written.fileno(), 2)
            try:
                handle = self.open(folder, name)
            finally:
                os.dup2(usual, 2)
                os.close(usual)
            self.assertEqual(self.text("chat_close_store", handle), "")
            written.seek(0)
            return written.read().decode()

    def invite_again(self, folder: str, name: str) -> None:
        handle = self.open(folder, name)
        for command in ("/_start", "/_connect 1"):
            self.assertIn("result", json.loads(self.text("chat_send_cmd", handle, command.encode())), command)
        self.assertEqual(self.text("chat_close_store", handle), "")

    def open(self, folder: str, name: str) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        answer = self.text(
            "chat_migrate_init_key", f"{folder}/{name}".encode(), b"", 1, b"yesUp", 0, ctypes.byref(handle)
        )
        self.assertEqual(json.loads(answer), {"type": "ok"})
        return handle

    def test_programs_that_only_close_keep_no_descriptors_and_threads(self) -> None:
        def held() -> tuple[int, int]:
            return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

        def settled() -> tuple[int, int]:
            """The minimum over 100 ms: the kernel still lists a thread for a moment after it has been joined."""
            found = []
            for _ in range(20):
                found.append(held())
                time.sleep(0.005)
            return min(found)

        with tempfile.TemporaryDirectory() as folder:
            counts = []
            for number in range(12):
                handle = self.open(folder, f"store {number % 4}")
                self.assertEqual(self.text("chat_close_store", handle), "")
                counts.append(settled())
            self.assertEqual(set(counts[4:]), {counts[4]})

    def test_the_last_two_that_were_closed_can_be_opened_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            handles = [self.open(folder, name) for name in ("a", "b", "c")]
            for handle in (*handles, handles[2]):
                self.assertEqual(self.text("chat_close_store", handle), "")
            for handle in handles[1:]:
                self.assertEqual(self.text("chat_reopen_store", handle), "")
                self.assertIn("noActiveUser", self.text("chat_send_cmd", handle, b"/u"))
            self.assertIn("controllerInvalid", self.text("chat_send_cmd", handles[0], b"/u"))
            # Later closings do not free a reopened controller.
            for number in range(4):
                self.assertEqual(self.text("chat_close_store", self.open(folder, f"d{number}")), "")
            for handle in handles[1:]:
                self.assertIn("noActiveUser", self.text("chat_send_cmd", handle, b"/u"))
                self.assertEqual(self.text("chat_close_store", handle), "")

    def test_starting_the_runtime_does_nothing(self) -> None:
        for function in ("hs_init", "hs_init_with_rtsopts"):
            getattr(self.library, function)(None, None)
        for function in ("haskell_init", "haskell_init_nse", "haskell_init_se", "hs_exit"):
            getattr(self.library, function)()

    def test_media_and_remote_hosts_answer_in_their_own_form(self) -> None:
        self.assertIn("no media", self.text("chat_encrypt_media", None, b"key", b"frame", 5))
        self.assertIn("no media", self.text("chat_decrypt_media", b"key", b"frame", 5))
        answer = json.loads(self.text("chat_send_remote_cmd", None, -7, b"/u"))
        self.assertEqual(answer["remoteHostId"], -7)
        self.assertEqual(answer["error"]["type"], "errorRemoteHost")
