"""Runs against the real library: stores, commands, events, pushes, machines. Every answer fits its generated type."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import traceback
import unittest
from collections.abc import Callable
from typing import Any

import nightporter
from nightporter import (
    ArgumentError,
    ChatError,
    Controller,
    ControllerClosed,
    MigrationError,
    Phase,
    Role,
    StateError,
    SyncController,
    categories,
    machines,
    validation,
)

from .fits import faults
from .support import StoreCase, run

PROFILE = '/_create user {"profile": {"displayName": "%s", "fullName": ""}}'


class LibraryCase(StoreCase):
    def assert_fits(self, value: Any, kind: str) -> Any:
        self.assertEqual(faults(value, kind), [], json.dumps(value)[:2000])
        return value

    async def start(self, c: Controller, name: str) -> Any:
        """Creates a profile, sets this test's relay, and starts the chat."""
        user = self.assert_fits(await c.send(PROFILE % name), "Response")["user"]
        network = json.dumps({"relay": str(self.folder / "relay.db")})
        self.assert_fits(await c.send(f"/_network {network}"), "Response")
        self.assert_fits(await c.send("/_start"), "Response")
        return user

    async def event(self, c: Controller, kind: str) -> Any:
        """Waits for the next event of a type; checks the events before it against their types as well."""
        async with asyncio.timeout(20):
            async for event in c.events():
                self.assert_fits(event, "Event")
                if event["type"] == kind:
                    return event
        self.fail(f"no {kind}")


class StoreTests(LibraryCase):
    def test_the_version_is_that_of_the_header(self) -> None:
        self.assertEqual(nightporter.library_version(), nightporter._interface.VERSION)

    def test_a_sealed_store_and_the_key_for_its_extension(self) -> None:
        path = self.folder / "sealed"
        with SyncController(path, key="open sesame", keep_key=True) as app:
            app.send(PROFILE % "alice")
            key = nightporter.derive_key(path, "open sesame")
            app.close_store()
            app.reopen_store()
        self.assertNotIn(b"alice", path.with_name("sealed_chat.db").read_bytes())
        with SyncController(path, key=key, role=Role.EXTENSION) as extension:
            self.assertEqual(extension.send("/u")["user"]["localDisplayName"], "alice")
            extension.close_store()
            with self.assertRaises(nightporter.StoreError):
                extension.reopen_store()
            extension.set_key(key)
            extension.reopen_store()
        for wrong, role, code in [
            ("wrong", Role.APP, "storeKeyWrong"),
            ("", Role.APP, "storeKeyMissing"),
            ("open sesame", Role.EXTENSION, "storeKeyNotRaw"),
        ]:
            with self.assertRaises(MigrationError) as caught:
                SyncController(path, key=wrong, role=role).open()
            self.assertEqual(caught.exception.result["np"]["code"], code)
        with self.assertRaises(ChatError) as refused:
            nightporter.derive_key(path, "wrong")
        self.assertEqual(refused.exception.code, "storeKeyWrong")
        self.assertNotEqual(refused.exception.advice, "")
        with SyncController(path, key="open sesame") as app:
            with self.assertRaises(ChatError) as refused:
                app.change_key("wrong", key)
            self.assertEqual(refused.exception.error["np"]["code"], "storeKeyWrong")
            app.change_key("open sesame", key)
        with SyncController(path, key=key, role=Role.EXTENSION) as extension:
            self.assertEqual(extension.send("/u")["user"]["localDisplayName"], "alice")

    def test_strings_with_a_mistake_are_refused_by_name(self) -> None:
        with SyncController(self.folder / "worded") as app:
            app.set_strings("de", {"%d new messages": {"one": "Eine neue Nachricht", "other": "%d neue Nachrichten"}})
            for take in (app.set_strings, nightporter.set_strings):
                with self.assertRaises(ChatError) as refused:
                    take(strings={"From: %@": "Von"})
                self.assertEqual(refused.exception.code, "stringsInvalid")
                self.assertEqual(refused.exception.error["np"]["key"], "From: %@")
                self.assert_fits(refused.exception.error, "Error")

    def test_a_profile_is_there_in_the_next_run(self) -> None:
        async def first() -> Any:
            async with Controller(self.folder / "alice") as c:
                with self.assertRaises(ChatError) as caught:
                    await c.send("/u")
                self.assertEqual(caught.exception.kind, "noActiveUser")
                self.assert_fits(caught.exception.error, "Error")
                return self.assert_fits(await c.send(PROFILE % "alice"), "Response")["user"]

        user = run(first())
        with SyncController(self.folder / "alice") as c:
            self.assertEqual(c.send("/u")["user"]["userId"], user["userId"])
            self.assert_fits(c.send("/users"), "Response")

    def test_what_is_no_database_is_refused(self) -> None:
        (self.folder / "broken_chat.db").write_bytes(b"anything but a database, at some length" * 100)
        with self.assertRaises(MigrationError) as caught:
            SyncController(self.folder / "broken").open()
        self.assertEqual(caught.exception.kind, "errorNotADatabase")
        self.assert_fits(caught.exception.result, "MigrationResult")

    def test_an_extension_does_not_make_a_store(self) -> None:
        with self.assertRaises(MigrationError) as caught:
            SyncController(self.folder / "nobody", role=Role.EXTENSION).open()
        self.assert_fits(caught.exception.result, "MigrationResult")

    def test_after_closing_nothing_of_the_store_is_open_or_locked(self) -> None:
        async def story() -> None:
            async with Controller(self.folder / "alice") as c:
                await self.start(c, "alice")
                state = self.assert_fits(await c.state(), "State")
                self.assertFalse(state["quiescent"])
                await c.suspend()
                state = self.assert_fits(await c.state(), "State")
                self.assertTrue(state["quiescent"], state["holds"])
                self.assertEqual(state["machines"]["app_phase"], "suspended")
                await c.activate()
                self.assertEqual((await c.state())["machines"]["app_phase"], "active")

        run(story())
        store = sqlite3.connect(self.folder / "alice_chat.db", timeout=0)
        store.execute("BEGIN EXCLUSIVE")
        store.close()

    def test_a_phase_before_the_start_is_refused(self) -> None:
        with SyncController(self.folder / "alice") as c, self.assertRaises(StateError):
            c.set_phase(Phase.ACTIVE)

    def test_suspending_within_a_time_ends_with_its_event(self) -> None:
        async def story() -> None:
            async with Controller(self.folder / "alice") as c:
                await self.start(c, "alice")
                await c.suspend(within=2)
                await self.event(c, "chatSuspended")
                self.assertTrue((await c.state())["quiescent"])

        run(story())

    def test_a_process_that_never_closes_ends_without_harm(self) -> None:
        program = f"""
from nightporter import SyncController
c = SyncController({str(self.folder / "alice")!r}).open()
c.send({PROFILE % "alice"!r})
"""
        subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=30)
        with SyncController(self.folder / "alice") as c:
            self.assertEqual(c.send("/u")["user"]["localDisplayName"], "alice")


class ForkTests(LibraryCase):
    def in_child(self, body: Callable[[], None]) -> int:
        """Runs `body` in a child made by fork(), with a time limit for a child that hangs. Returns its exit status."""
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            try:
                body()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        return os.waitpid(child, 0)[1]

    def test_a_controller_is_closed_in_a_child_and_open_in_its_parent(self) -> None:
        with SyncController(self.folder / "alice") as c:
            c.send(PROFILE % "alice")

            def refuses() -> None:
                self.assertTrue(c.is_closed)
                for call in (lambda: c.send("/u"), c.state, c.next_event, c.expire_push, lambda: c.suspend()):
                    with self.assertRaises(ControllerClosed):
                        call()
                c.close()

            self.assertEqual(self.in_child(refuses), 0)
            self.assertEqual(c.send("/u")["type"], "activeUser")
            self.assertIsNone(c.next_event(0), "the child has woken no caller here")

    def test_a_child_closes_while_a_thread_of_its_parent_is_inside(self) -> None:
        with SyncController(self.folder / "alice") as c:
            calls = c._open_calls()
            with calls._gate, calls._gate._condition:
                self.assertEqual(self.in_child(c.close), 0)

    def test_an_asynchronous_controller_is_closed_in_a_child(self) -> None:
        async def story() -> None:
            async with Controller(self.folder / "alice") as c:
                self.assertEqual(self.in_child(lambda: self.assertTrue(c.is_closed)), 0)
                self.assertEqual((await c.send(PROFILE % "alice"))["type"], "activeUser")

        run(story())

    def test_a_child_ends_with_its_interpreter_and_its_parents_store_stays_open(self) -> None:
        script = """
import gc, os, signal, sys
from nightporter import SyncController
c = SyncController(sys.argv[1]).open()
child = os.fork()
if child == 0:
    signal.alarm(30)
    if sys.argv[2] == "collected":
        del c
        gc.collect()
    sys.exit(0)
status = os.waitpid(child, 0)[1]
c.send('/_create user {"profile": {"displayName": "alice", "fullName": ""}}')
c.close()
sys.exit(status != 0)
"""
        for end in ("collected", "kept"):
            command = [sys.executable, "-W", "error", "-c", script, str(self.folder / end), end]
            ended = subprocess.run(command, timeout=60, capture_output=True, text=True)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))


class ConversationTests(LibraryCase):
    def test_two_controllers_connect_and_every_message_arrives_once_in_order(self) -> None:
        async def story() -> list[str]:
            texts: list[str] = []
            async with Controller(self.folder / "alice") as alice, Controller(self.folder / "bob") as bob:
                user = await self.start(alice, "alice")
                await self.start(bob, "bob")
                invitation = self.assert_fits(await alice.send(f"/_connect {user['userId']}"), "Response")
                link = invitation["connLinkInvitation"]["connFullLink"]
                self.assert_fits(await bob.send(f"/connect {link}"), "Response")
                contact = (await self.event(bob, "contactConnected"))["contact"]
                await self.event(alice, "contactConnected")

                async def collect() -> None:
                    async for event in alice.events():
                        self.assert_fits(event, "Event")
                        if event["type"] == "newChatItems":
                            texts.extend(item["chatItem"]["meta"]["itemText"] for item in event["chatItems"])
                        if len(texts) == 40:
                            return

                collecting = asyncio.create_task(collect())
                for number in range(40):
                    message = [{"msgContent": {"type": "text", "text": f"message {number}"}, "mentions": {}}]
                    command = f"/_send @{contact['contactId']} json {json.dumps(message)}"
                    self.assert_fits(await bob.send(command), "Response")
                    # Replacing the collector every few messages must lose no event.
                    if number % 3 == 0:
                        collecting.cancel()
                        await asyncio.wait({collecting})
                        collecting = asyncio.create_task(collect())
                async with asyncio.timeout(20):
                    await collecting
            return texts

        self.assertEqual(run(story()), [f"message {number}" for number in range(40)])

    def test_a_message_that_arrived_before_closing_and_was_not_read_comes_again(self) -> None:
        async def story() -> None:
            async with Controller(self.folder / "bob") as bob:
                await self.start(bob, "bob")
                alice = Controller(self.folder / "alice")
                with self.assertRaisesRegex(RuntimeError, "a bot's mistake"):
                    async with alice:
                        await self.leave_with_a_message_waiting(alice, bob)
                # The first controller still has its events, and holds nothing of the store.
                async with Controller(self.folder / "alice") as again:
                    await again.send("/_start")
                    event = await self.event(again, "newChatItems")
                    self.assertEqual(event["chatItems"][0]["chatItem"]["meta"]["itemText"], "hello")
                self.assertTrue(alice.is_closed)

        run(story())

    async def leave_with_a_message_waiting(self, alice: Controller, bob: Controller) -> None:
        user = await self.start(alice, "alice")
        invitation = await alice.send(f"/_connect {user['userId']}")
        await bob.send(f"/connect {invitation['connLinkInvitation']['connFullLink']}")
        contact = (await self.event(bob, "contactConnected"))["contact"]
        await self.event(alice, "contactConnected")
        message = json.dumps([{"msgContent": {"type": "text", "text": "hello"}, "mentions": {}}])
        await bob.send(f"/_send @{contact['contactId']} json {message}")
        while "hello" not in json.dumps(await alice.send("/_get chats 1 pcc=off")):
            await asyncio.sleep(0.01)
        raise RuntimeError("a bot's mistake")


class PushTests(LibraryCase):
    def test_a_push_for_nobody_has_an_outcome_a_reason_and_a_trace(self) -> None:
        with SyncController(self.folder / "alice") as c:
            c.send(PROFILE % "alice")
        payload = {"aps": {"mutable-content": 1}, "notificationData": {"nonce": "AAAA", "message": "AAAA"}}

        async def story() -> None:
            async with Controller(self.folder / "alice", role=Role.EXTENSION) as c:
                for push in (payload, json.dumps(payload), b"{", "", "{}"):
                    answer = self.assert_fits(await c.receive_push(push, deadline=5), "PushAnswer")
                    self.assertIn(answer["outcome"], ("unknown", "quarantined", "stopped", "failed"))
                    self.assertEqual(answer["notifications"], [])
                    self.assertTrue(answer["reason"])
                self.assertFalse(await c.expire_push())
                self.assert_fits(await c.state(), "State")

        run(story())


class ResponseTests(LibraryCase):
    def test_a_tap_is_carried_out_once_and_its_event_says_where_to_go(self) -> None:
        tap = {"identifier": "one of the first day", "userInfo": {"userId": 1}}
        with SyncController(self.folder / "alice") as c:
            c.send(PROFILE % "alice")
            waiting = self.assert_fits(c.notification_response(tap), "Response_notificationResponse")
            self.assertEqual((waiting["outcome"], waiting["repeated"]), ("waiting", False))
            c.send("/_network " + json.dumps({"relay": str(self.folder / "relay")}))
            c.send("/_start")
            events = (self.assert_fits(event, "Event") for event in c.events(timeout=10))
            event = next(event for event in events if event["type"] == "ntfResponse")
            self.assertEqual((event["outcome"], event["userId"]), ("applied", 1))
            with self.assertRaises(ChatError):
                c.notification_response({"actionIdentifier": "NTF_ACT_DANCE"})

        async def story() -> None:
            async with Controller(self.folder / "alice") as c:
                again = await c.notification_response(json.dumps(tap))
                self.assertEqual((again["outcome"], again["repeated"]), ("applied", True))

        run(story())

    def test_categories_name_their_actions(self) -> None:
        named = self.assert_fits(categories(), "Categories")["categories"]
        self.assertIn("NTF_CAT_MANY_EVENTS", [category["identifier"] for category in named])
        with SyncController(self.folder / "alice") as c:
            c.set_strings("ja")
            japanese = self.assert_fits(c.categories(), "Categories")["categories"]
            self.assertNotEqual(japanese, named)
            self.assertEqual([one["identifier"] for one in japanese], [one["identifier"] for one in named])
        self.assertIn("NTF_ACT_REPLY", [action["identifier"] for category in named for action in category["actions"]])

class RefreshTests(LibraryCase):
    def test_a_round_in_the_background_answers_like_a_push_and_ends_at_rest(self) -> None:
        with SyncController(self.folder / "alice") as c:
            c.send(PROFILE % "alice")
            answer = self.assert_fits(c.background_refresh(deadline=5), "PushAnswer")
            self.assertTrue(answer["quiescent"])
            # No relay is set, so the next round is due soon.
            self.assertEqual(answer["nextRefreshMs"], 600_000)
            with self.assertRaises(ArgumentError):
                c.background_refresh(deadline=31)

        async def story() -> None:
            async with Controller(self.folder / "alice") as c:
                answer = self.assert_fits(await c.background_refresh(deadline=5), "PushAnswer")
                self.assertEqual(answer["outcome"], "nothingNew")
                self.assert_fits(await c.state(), "State")
            async with Controller(self.folder / "alice", role=Role.EXTENSION) as c:
                with self.assertRaises(ChatError):
                    await c.background_refresh()

        run(story())


class MachineTests(unittest.TestCase):
    def test_every_machine_answers_every_event_in_every_state(self) -> None:
        self.assertIn("push", machines.names())
        for machine in machines.all():
            with self.subTest(machine=machine.name):
                self.assertEqual(machines.get(machine.name), machine)
                self.assertIn(machine.initial, machine.states)
                for state in machine.states:
                    for event in machine.events:
                        step = machine.step(state, event)
                        self.assertIn(step.state, machine.states)
                        self.assertLessEqual(set(step.effects), set(machine.effects))
                        taken = step.kind in (machines.StepKind.MOVED, machines.StepKind.STAYED)
                        self.assertEqual(step.reason == "", taken)
                        self.assertEqual(step.state == state, step.kind is not machines.StepKind.MOVED)
                        if not taken:
                            self.assertEqual(step.effects, ())

    def test_a_token_becomes_active(self) -> None:
        machine = machines.get("token_status")
        state = machine.initial
        for event in ("register.newToken", "register.ok", "push.verification", "verify.ok"):
            state = machine.step(state, event).state
        self.assertEqual(state, "active")

    def test_names_that_are_not_there_are_refused(self) -> None:
        with self.assertRaises(ArgumentError):
            machines.get("toaster")
        machine = machines.get("push")
        for state, event in (("toasting", machine.events[0]), (machine.initial, "toast")):
            with self.assertRaises(ArgumentError):
                machine.step(state, event)


class ValidationTests(unittest.TestCase):
    def test_text_is_judged(self) -> None:
        self.assertEqual(validation.json_length('né"\n'), 7)
        self.assertEqual(validation.valid_name("alice"), "alice")
        self.assertEqual(validation.parse_markdown("plain"), {})
        self.assertIn("formattedText", validation.parse_markdown("*bold*"))
        self.assertNotEqual(validation.parse_server("nonsense")["parseError"], "")
        self.assertEqual(validation.parse_uri("https://example.org/?a=1")["uriInfo"]["scheme"], "https")
        self.assertEqual(validation.password_hash("secret", "c2FsdA=="), validation.password_hash("secret", "c2FsdA=="))
