"""Plays a visitor to bots written with the official package, which runs unmodified on libsimplex.so.

    python play.py [FOLDER]

There are two bots, each in its own process: the program in the package's README, and menu_bot.py. The visitor meets
each through its address. One bot is killed in the middle of an answer, and with a number not handed over; one visit names no
relay. Prints what held; exits with status 1 if something did not. SIMPLEX_LIBS_DIR is the folder of a debug build's libsimplex.so.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import re
import signal
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

from simplex_chat import Client, Profile, SqliteDb

Result = TypeVar("Result")
HERE = Path(__file__).resolve().parent
PATIENCE = 60.0


def readme_program() -> str:
    """The program in the installed package's README, unchanged."""
    readme = importlib.metadata.metadata("simplex-chat").get_payload()
    assert isinstance(readme, str)
    programs = [block for block in re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL) if "Bot(" in block]
    assert programs, "the package's README shows no bot"
    return programs[0]


def held(what: str) -> None:
    print(f"held: {what}", flush=True)


async def until(what: str, look: Callable[[], Result | None]) -> Result:
    """Repeats `look` until it returns something; fails after a minute."""
    give_up = asyncio.get_running_loop().time() + PATIENCE
    while (found := look()) is None:
        if asyncio.get_running_loop().time() > give_up:
            raise AssertionError(f"{what}: not within {PATIENCE:.0f} s")
        await asyncio.sleep(0.02)
    return found


class BotProcess:
    """A bot's program in its own process, from start to exit."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder, self.program = folder, program
        self.process: asyncio.subprocess.Process | None = None
        self.reader: asyncio.Task[None] | None = None
        self.log: list[str] = []

    async def start(self, **environment: str) -> str:
        """Starts the bot and returns its address."""
        self.log = []
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(self.program),
            cwd=self.folder,
            env={**os.environ, **environment},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        self.reader = asyncio.create_task(self.read())
        return await until(f"{self.program.name} has an address", self.address)

    async def read(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        async for line in self.process.stderr:
            self.log.append(line.decode(errors="replace").rstrip())

    def address(self) -> str | None:
        assert self.process is not None
        if self.process.returncode is not None:
            raise RuntimeError("the bot ended:\n" + "\n".join(self.log))
        return next((match[1] for line in self.log if (match := re.search(r"Bot address: (\S+)", line))), None)

    def stopped(self) -> bool | None:
        """True once it has stopped itself, None before."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        return status.rpartition(")")[2].split()[0] == "T" or None

    async def end(self, how: signal.Signals) -> int:
        assert self.process is not None and self.reader is not None
        if self.process.returncode is None:
            self.process.send_signal(how)
        status = await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self.reader
        return status


class Visitor:
    """A client from the package, with everything it received."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.received: list[dict[str, Any]] = []

        @client.on_event("newChatItems")
        async def keep(event: Any) -> None:
            for item in event["chatItems"]:
                if item["chatItem"]["chatDir"]["type"] == "directRcv":
                    self.received.append(item)

    @staticmethod
    def text(item: dict[str, Any]) -> str:
        return str(item["chatItem"]["content"].get("msgContent", {}).get("text", ""))

    def find(self, text: str, contact: int) -> list[dict[str, Any]]:
        return [
            item
            for item in self.received
            if self.text(item) == text and item["chatInfo"]["contact"]["contactId"] == contact
        ]

    async def hear(self, text: str, contact: int) -> dict[str, Any]:
        found = await until(f'"{text}" arrives', lambda: self.find(text, contact) or None)
        return found[0]

    async def say(self, contact: int, text: str) -> dict[str, Any]:
        return (await self.client.api.api_send_text_message(["direct", contact], text))[0]


@asynccontextmanager
async def visitor(folder: Path) -> AsyncIterator[Visitor]:
    client = Client(profile=Profile(display_name="visitor"), db=SqliteDb(str(folder / "visitor")))
    who = Visitor(client)
    async with client:
        serving = asyncio.create_task(client.serve_forever())
        try:
            yield who
        finally:
            client.stop()
            await serving


async def visit_squares(who: Visitor, bot: BotProcess) -> None:
    contact = (await who.client.connect_to(await bot.start(), timeout=PATIENCE))["contactId"]
    held("the program of the package's README starts, and is met through its address")
    await who.hear("Send me a number, I'll square it.", contact)
    held("it welcomes")
    for number in range(1, 11):
        await square(who, contact, number)
    await kill_amid_squares(who, bot, contact)
    held("killed with SIGKILL in the middle of an answer, and before it has a number, and started again, it answers what it had not")
    for number in range(15, 21):
        await square(who, contact, number)
    await check_once(who, contact, 1)
    held("twenty squares, each in answer to its number, each once")
    again = await who.client.connect_to(await bot_address(bot), timeout=PATIENCE)
    assert again["contactId"] == contact, "meeting it again is the same contact"
    held("met again, it is the contact it was")
    await restart_silently(bot)
    held("a second start sends nothing that it need not")
    await check_once(who, contact, 2)
    held("nor does it answer anything again")


async def restart_silently(bot: BotProcess) -> None:
    """Restarts the bot. Nothing is outstanding, so by the relay's count it creates no mailbox and sends no message."""
    before = await settled_counts(bot)
    status = await bot.end(signal.SIGTERM)
    assert status == 0, f"the bot ended with status {status}:\n" + "\n".join(bot.log)
    assert not any("Error" in line or "ERROR" in line for line in bot.log), "\n".join(bot.log)
    await bot.start()
    changes = [line for line in bot.log if "updating" in line or "creating" in line]
    assert not changes, f"a second start changes nothing, but: {changes}"
    after = await settled_counts(bot)
    assert after == before, f"mailboxes and messages at the relay: {before}, after a second start {after}"


async def settled_counts(bot: BotProcess) -> tuple[int, int]:
    """Counts the mailboxes and messages the relay has had (it keeps a row for each), once none has come for a second."""
    loop = asyncio.get_running_loop()
    last, since = relay_counts(bot), loop.time()

    def look() -> tuple[int, int] | None:
        nonlocal last, since
        now = relay_counts(bot)
        if now != last:
            last, since = now, loop.time()
        return now if loop.time() - since > 1 else None

    return await until("the relay is quiet", look)


def relay_counts(bot: BotProcess) -> tuple[int, int]:
    with closing(sqlite3.connect(f"file:{bot.folder.parent / 'relay'}?mode=ro", uri=True)) as relay:
        mailboxes, messages = relay.execute("SELECT (SELECT count(*) FROM mailbox), (SELECT count(*) FROM message)").fetchone()
    return mailboxes, messages


async def kill_amid_squares(who: Visitor, bot: BotProcess, contact: int) -> None:
    """Kills the bot once with an answer stored but not sent, and once with a number stored but not handed over."""
    await kill_at("beforeSend", who, bot, contact, (11, 12))
    await kill_at("afterCommit", who, bot, contact, (13, 14))


async def kill_at(point: str, who: Visitor, bot: BotProcess, contact: int, numbers: tuple[int, int]) -> None:
    """
    Makes the bot stop itself at this point (PORTER_STOP_AT, in debug builds) when the first number has come. The second comes while it
    is stopped; then it is killed.
    """
    first, second = numbers
    assert await bot.end(signal.SIGTERM) == 0
    stop = bot.folder / "stop"
    await bot.start(PORTER_STOP_AT=f"{point}:{stop}")
    stop.touch()
    sent = [await who.say(contact, str(first))]
    await until(f"the bot stops with {first}", lambda: bot.stopped() and stopped_with(first, bot, stop))
    assert not stop.exists(), "the bot stopped elsewhere"
    sent.append(await who.say(contact, str(second)))
    assert not any(who.find(answer_to(number), contact) for number in numbers), "no square was outstanding"
    await bot.end(signal.SIGKILL)
    await bot.start()
    for number, item in zip(numbers, sent, strict=True):
        await check_square(who, contact, number, item)


def stopped_with(number: int, bot: BotProcess, stop: Path) -> bool | None:
    """True if the number is stored. If the bot stopped with something else, such as a receipt, it continues to the next."""
    with closing(sqlite3.connect(bot.folder / f"{bot.program.stem}_chat.db")) as store:
        query = "SELECT count(*) FROM items WHERE sent = 0 AND content LIKE ?"
        (count,) = store.execute(query, (f'%"{number}"%',)).fetchone()
    if count == 0:
        assert bot.process is not None
        stop.touch()
        bot.process.send_signal(signal.SIGCONT)
    return count == 1 or None


async def check_once(who: Visitor, contact: int, times: int) -> None:
    """Checks that each of the twenty squares came once. The last message is answered last, after any repeated square."""
    fallback = "Send me a number, like 7 or 3.14."
    await who.say(contact, "hello")
    await until("the last answer", lambda: len(who.find(fallback, contact)) >= times or None)
    counts = {number: len(who.find(answer_to(number), contact)) for number in range(1, 21)}
    assert set(counts.values()) == {1}, f"not each square came once: {counts}"


async def bot_address(bot: BotProcess) -> str:
    address = bot.address()
    assert address is not None
    return address


async def square(who: Visitor, contact: int, number: int) -> None:
    await check_square(who, contact, number, await who.say(contact, str(number)))


def answer_to(number: int) -> str:
    return f"{float(number)} * {float(number)} = {float(number) * float(number)}"


async def check_square(who: Visitor, contact: int, number: int, asked: dict[str, Any]) -> None:
    expected = answer_to(number)
    answer = await who.hear(expected, contact)
    quote = answer["chatItem"]["quotedItem"]
    assert quote["content"]["text"] == str(number), f"{expected} quotes {quote}"
    assert quote["itemId"] == asked["chatItem"]["meta"]["itemId"], f"{expected} quotes another item: {quote}"
    assert len(who.find(expected, contact)) == 1, f"{expected} came more than once"


async def visit_menu(who: Visitor, bot: BotProcess) -> None:
    met = await who.client.connect_to(await bot.start(), timeout=PATIENCE)
    contact = met["contactId"]
    await who.hear("Choose from the menu.", contact)
    keywords = [command["keyword"] for command in met["profile"]["preferences"]["commands"]]
    assert keywords == ["help", "order"] and met["profile"]["peerType"] == "bot", met["profile"]
    held("a bot's menu is in its profile")
    await who.say(contact, "/help")
    await who.hear("Order by number.", contact)
    order = await who.say(contact, "/order 7")
    await who.hear("Number 7 is on its way.", contact)
    held("its commands are carried out")
    api, item = who.client.api, order["chatItem"]["meta"]["itemId"]
    await api.api_update_chat_item("direct", contact, item, {"type": "text", "text": "number 8, please"})
    await who.hear("edited: number 8, please", contact)
    held("an edit arrives")
    await api.api_chat_item_reaction("direct", contact, item, True, {"type": "emoji", "emoji": "👍"})
    await who.hear("reaction: 👍 True", contact)
    held("a reaction arrives")
    await api.api_delete_chat_items("direct", contact, [item], "broadcast")
    await who.hear("deleted", contact)
    held("a deletion arrives")


async def visit_default_relay(who: Visitor, bot: BotProcess) -> None:
    """Visits with only SIMPLEX_LIBS_DIR set: the relay is in the folder of both stores."""
    contact = (await who.client.connect_to(await bot.start(), timeout=PATIENCE))["contactId"]
    await square(who, contact, 1)
    words = "nightporter: the relay is "
    said = [Path(line.removeprefix(words)) for line in bot.log if line.startswith(words)]
    relay = (bot.folder / "nightporter.relay").resolve()
    assert [path.is_absolute() for path in said] == [True] and said[0].resolve() == relay, bot.log
    assert (bot.folder / "nightporter.relay").exists(), sorted(bot.folder.iterdir())
    held("with no relay named, the bot's log names the one in its folder, where the visitor meets it")


async def play(folder: Path, *visits: Callable[[Visitor, BotProcess], Awaitable[None]]) -> None:
    """Makes each visit to a bot of its own."""
    folder.mkdir()
    program = folder / "squaring_bot.py"
    program.write_text(readme_program(), encoding="utf-8")
    async with visitor(folder) as who:
        for visit in visits:
            bot = BotProcess(folder, HERE / "menu_bot.py" if visit is visit_menu else program)
            try:
                await visit(who, bot)
            finally:
                if bot.process is not None:
                    await bot.end(signal.SIGKILL)


async def play_all(folder: Path) -> None:
    os.environ.pop("NIGHTPORTER_RELAY", None)
    await play(folder / "default", visit_default_relay)
    os.environ["NIGHTPORTER_RELAY"] = str(folder / "relay")
    await play(folder / "named", visit_squares, visit_menu)


async def main() -> None:
    if len(sys.argv) > 1:
        await play_all(Path(sys.argv[1]).resolve())
        return
    with tempfile.TemporaryDirectory(prefix="nightporter-bots-") as folder:
        await play_all(Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
