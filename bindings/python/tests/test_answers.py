"""The library's answers become values or exceptions; its callbacks reach Python."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import unittest

import nightporter
from nightporter import (
    ArgumentError,
    CallError,
    ChatError,
    Controller,
    ErrorCode,
    LibraryError,
    MigrationError,
    NightporterError,
    Phase,
    StateError,
    SyncController,
    _callbacks,
)
from nightporter._library import Library

from .support import StandInCase, build_stand_in, run


class AnswerTests(StandInCase):
    def test_a_refused_command_raises_with_the_innermost_kind(self) -> None:
        with SyncController("store") as c, self.assertRaises(ChatError) as caught:
            c.send("dance")
        self.assertEqual(caught.exception.kind, "commandError")
        self.assertEqual(caught.exception.error["type"], "error")

    def test_a_host_without_a_controller_asks_whether_a_push_is_silent(self) -> None:
        for payload in ({"about": "muted"}, '{"about": "muted"}', b'{"about": "muted"}'):
            self.assertIs(nightporter.push_is_silent("store", payload), True)
        self.assertIs(nightporter.push_is_silent("store", {}), False)
        self.assertIs(nightporter.push_is_silent("another", {"about": "muted"}), False)

    def test_keys_are_derived_and_given_again(self) -> None:
        self.assertEqual(nightporter.derive_key("store", "open sesame"), "x'00ff'")
        with self.assertRaises(ChatError) as caught:
            nightporter.derive_key("store", "wrong")
        self.assertEqual(caught.exception.kind, "errorNotADatabase")
        with self.assertRaises(nightporter.ProtocolError):
            nightporter.derive_key("nonsense", "open sesame")
        nightporter.set_cipher("fastest")
        with self.assertRaises(CallError):
            nightporter.set_cipher("AEGIS-256")
        with SyncController("store") as c:
            c.set_key("x'00ff'", keep_key=True)
            with self.assertRaises(CallError):
                c.set_key("x'")

            c.change_key("open sesame", "x'00ff'")
            with self.assertRaises(ChatError):
                c.change_key("x'00ff'", "open sesame")

        async def story() -> None:
            async with Controller("store") as c:
                await c.set_key("x'00ff'")
                await c.change_key("open sesame", "x'00ff'")
                with self.assertRaises(ChatError):
                    await c.change_key("open sesame", "")

        run(story())

    def test_strings_are_given_to_the_process_and_to_a_controller(self) -> None:
        with SyncController("store") as c:
            nightporter.set_strings("ja")
            nightporter.set_strings()
            c.set_strings("de", {"Somebody": "Jemand", "From %d chats": {"other": "Aus %d Chats"}})
            with self.assertRaises(ChatError) as caught:
                c.set_strings(strings={"wrong": ""})
            self.assertEqual(caught.exception.code, "stringsInvalid")

        async def story() -> None:
            async with Controller("store") as c:
                await c.set_strings("ar")

        run(story())
        self.assertEqual(
            [line for line in self.journal() if line.startswith("{")],
            [
                '{"language": "ja"}',
                "{}",
                '{"language": "de", "strings": {"Somebody": "Jemand", "From %d chats": {"other": "Aus %d Chats"}}}',
                '{"strings": {"wrong": ""}}',
                '{"language": "ar"}',
            ],
        )

    def test_an_error_among_the_events_is_raised_and_iterating_goes_on(self) -> None:
        async def story() -> list[object]:
            seen: list[object] = []
            async with Controller("store") as c:
                events = c.events()
                for command in ("emit 1", "emit-error", "emit 1"):
                    await c.send(command)
                for _ in range(3):
                    try:
                        seen.append((await anext(events))["number"])
                    except ChatError as error:
                        seen.append(error.kind)
            return seen

        self.assertEqual(run(story()), [1, "dBException", 2])

    def test_a_store_that_does_not_open_raises_with_the_answer(self) -> None:
        async def story() -> None:
            async with Controller("broken"):
                self.fail("opened")

        for opening in (lambda: run(story()), lambda: SyncController("broken").open()):
            with self.assertRaises(MigrationError) as caught:
                opening()
            self.assertEqual(caught.exception.result, {"type": "errorNotADatabase", "dbFile": "broken_chat.db"})

    def test_a_refused_phase_is_a_state_error_of_the_one_hierarchy(self) -> None:
        with SyncController("store") as c:
            c.set_phase(Phase.ACTIVE)
            with self.assertRaises(StateError) as caught:
                c.set_phase(Phase.BACKGROUND_REFRESH)
        self.assertEqual(caught.exception.code, ErrorCode.STATE)
        self.assertIsInstance(caught.exception, CallError)
        self.assertIsInstance(caught.exception, NightporterError)

    def test_text_that_would_be_cut_off_is_refused(self) -> None:
        with SyncController("store") as c:
            for text in ("emit 1\0", "\ud800"):
                with self.assertRaises(ArgumentError):
                    c.send(text)
            with self.assertRaises(ArgumentError):
                c.receive_push("{}", deadline=31)
        with self.assertRaises(ArgumentError):
            SyncController("a\0b").open()

    def test_a_library_of_another_abi_or_of_something_else_is_refused(self) -> None:
        with self.assertRaisesRegex(LibraryError, "has ABI 99, this package needs 3"):
            Library(build_stand_in("-DSTAND_IN_ABI=99"))
        with self.assertRaisesRegex(LibraryError, "not a whole Nightporter library"):
            Library("libc.so.6")
        with self.assertRaisesRegex(LibraryError, "cannot be loaded"):
            Library("/nowhere/libnightporter.so")

    def test_the_log_reaches_logging(self) -> None:
        with self.assertLogs("nightporter", logging.WARNING) as caught:
            nightporter.enable_logging(logging.WARNING)
        nightporter.disable_logging()
        self.assertEqual(caught.output, ["WARNING:nightporter:the log is open"])


class InterfaceTests(unittest.TestCase):
    # The README has the reason.
    ONLY_ASYNCHRONOUS = {"unclaimed_pushes"}
    # A synchronous host bounds the wait by an argument, an asynchronous one by asyncio.timeout().
    WITH_A_TIME_OUT = {"events", "next_event"}

    def public(self, kind: type) -> dict[str, object]:
        return {name: value for name, value in vars(kind).items() if not name.startswith("_")}

    def test_the_controllers_have_the_same_methods_with_the_same_arguments(self) -> None:
        asynchronous, synchronous = self.public(Controller), self.public(SyncController)
        self.assertEqual(asynchronous.keys() - self.ONLY_ASYNCHRONOUS, synchronous.keys())
        for name, method in synchronous.items():
            if callable(method) and name not in self.WITH_A_TIME_OUT:
                expected, found = (list(inspect.signature(each).parameters) for each in (asynchronous[name], method))
                self.assertEqual(found, expected, name)


class TransportTests(StandInCase):
    def test_a_synchronous_transport_carries_bytes_and_is_forgotten_when_released(self) -> None:
        with SyncController("store") as c:
            c.set_relay(lambda request, timeout: request[::-1])
            gc.collect()
            self.assertEqual(c.send("exchange"), {"type": "exchanged", "error": 0, "asSent": True})
            with self.assertRaises(StateError):
                c.set_relay(lambda request, timeout: b"")
            self.assertEqual(len(_callbacks._exchanges), 1)
            c.send("release")
            self.assertEqual(len(_callbacks._exchanges), 0)

    def test_a_transport_that_fails_or_is_late_is_an_error_code(self) -> None:
        def late(request: bytes, timeout: float) -> bytes:
            raise TimeoutError

        def too_long(request: bytes, timeout: float) -> bytes:
            return bytes(_callbacks.LONGEST_ANSWER + 1)

        def broken(request: bytes, timeout: float) -> bytes:
            raise OSError("no network")

        for transport, code in ((late, ErrorCode.TIMEOUT), (too_long, ErrorCode.SYSTEM), (broken, ErrorCode.SYSTEM)):
            with self.subTest(transport.__name__), SyncController("store") as c:
                c.set_relay(transport)
                logging.getLogger("nightporter").setLevel(logging.CRITICAL)
                self.assertEqual(c.send("exchange")["error"], code)
                logging.getLogger("nightporter").setLevel(logging.NOTSET)
                c.send("release")

    def test_an_asynchronous_transport_runs_on_the_loop_within_its_time(self) -> None:
        async def story() -> list[object]:
            async def backwards(request: bytes, timeout: float) -> bytes:
                await asyncio.sleep(0.01)
                return request[::-1]

            async def forever(request: bytes, timeout: float) -> bytes:
                await asyncio.sleep(100)
                return b""

            codes: list[object] = []
            async with Controller("store") as c:
                for transport in (backwards, forever):
                    await c.set_relay(transport)
                    codes.append((await c.send("exchange"))["error"])
                    await c.send("release")
            return codes

        self.assertEqual(run(story()), [ErrorCode.OK, ErrorCode.TIMEOUT])


if __name__ == "__main__":
    unittest.main()
