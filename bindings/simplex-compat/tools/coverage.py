"""Calls every command of the installed package `simplex-chat` on libsimplex.so, and writes COVERAGE.md.

    python tools/coverage.py           writes COVERAGE.md
    python tools/coverage.py --check   only compares it

The commands are found in the package by reflection; each answer and event is checked against the package's own types. Events of kinds that the
package lacks are checked against spec/protocol/event.schema.json.
SIMPLEX_LIBS_DIR is the folder of libsimplex.so.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from simplex_chat import SqliteDb, core
from simplex_chat.api import ChatApi
from simplex_chat.types import _commands, _events, _types

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE = HERE.parent / "COVERAGE.md"
TEXT = {"type": "text", "text": "hello"}
# Nightporter's own events, for which the package has no types and which it ignores; checked against our schema.
OURS = {"notifications", "ntfResponse", "ntfTokenStatus", "contactRequestWithdrawn", "eventsLost", "applicationPush"}
# The answers to `/_connect plan` in the package's types that this run does not get, with the reasons.
UNSEEN_PLANS = {
    "groupLink": "cannot occur: there are no groups, and so no links of groups",
    "invitationLink.connecting": "until the other side answers: `InvitationTests.testAPlanSaysWhereAnInvitationLeads`",
    "contactAddress.connectingProhibit": "from the answer until the connection is ready: "
    "`ContactRequestTests.testAPlanForAnAddressThatHasAcceptedAndIsNotConnectedYet`",
    "contactAddress.contactViaAddress": "cannot occur: it is a contact without a connection, and each contact is made with its own",
}
GROUP = {"groupId": 1, "groupMemberId": 1, "groupMemberIds": [1], "memberRole": "member", "relayIds": [1]}
GROUP_PROFILE = {"displayName": "group", "fullName": ""}


def load_checker(name: str) -> ModuleType:
    """Loads a checker of the library's own tests, for the package's types (`shapes`) or our schemas (`schemas`)."""
    path = ROOT / "Tests" / "PorterSchemaTests" / "peers" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


shapes, schemas = load_checker("shapes"), load_checker("schemas")


@dataclass
class Side:
    """One controller, with the results of its calls and its events."""

    api: ChatApi
    user: int = 0
    contact: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    heard: set[str] = field(default_factory=set)
    task: asyncio.Task[None] | None = None

    async def receive(self) -> None:
        while True:
            event = await self.api.recv_chat_event(wait_us=100_000)
            if event is not None:
                self.events.append(dict(event))

    async def hear(self, kind: str, count: int = 1) -> dict[str, Any]:
        for _ in range(6_000):
            found = [event for event in self.events if event["type"] == kind]
            if len(found) >= count:
                self.heard.add(kind)
                return found[count - 1]
            await asyncio.sleep(0.01)
        raise AssertionError(f"the event {kind} did not come: {[event['type'] for event in self.events]}")


@dataclass
class Row:
    command: str
    sent: str
    came: str
    verdict: str


class Run:
    def __init__(self, alice: Side, bob: Side) -> None:
        self.alice, self.bob = alice, bob
        self.rows: dict[str, Row] = {}
        self.faults: list[str] = []
        self.plans: set[str] = set()

    async def plan(self, side: Side, link: str) -> None:
        """Asks where the link leads, and records the kind of answer."""
        answer = await self.call(side, "APIConnectPlan", userId=side.user, connectTarget=link, resolveMode="unknown")
        plan = answer["connectionPlan"]
        kind = plan["type"]
        self.plans.add(f"{kind}.{plan[kind + 'Plan']['type']}" if f"{kind}Plan" in plan else kind)

    async def call(self, side: Side, name: str, refused: str = "", **arguments: Any) -> dict[str, Any]:
        """Calls one command of the package, and records the answer. A command that works must work with all arguments, unless it is
        `refused` by a rule that SimpleX has too."""
        text = getattr(_commands, f"{name}_cmd_string")(arguments)
        kind = getattr(_commands, f"{name}_Response")
        try:
            answer: dict[str, Any] = dict(await side.api.send_chat_cmd(text))
            faults = shapes.check(kind, answer, "answer", _commands)
            came, verdict = answer["type"], "works"
        except core.ChatAPIError as error:
            problem: Any = error.chat_error or {}
            answer = {"type": "chatCmdError", "chatError": problem}
            faults = shapes.check("T.ChatError", problem, "error", _commands)
            inner = problem.get("errorType") or problem.get("storeError") or problem.get("agentError") or {}
            code = problem.get("np", {}).get("code") or inner.get("type", "?")
            came, verdict = f"{problem.get('type')}.{inner.get('type', '?')}", f"refused: {code}"
        self.faults += [f"{name}: {fault}" for fault in faults]
        if faults:
            verdict = "does not fit"
        known = self.rows.get(name)
        expected = f"refused: {refused}" if refused else "works"
        if known is not None and known.verdict == "works" and verdict != expected:
            self.faults.append(f"{name}: worked before, and `{text}` is {verdict}")
        if known is None or known.verdict.startswith("refused"):
            self.rows[name] = Row(name, text.split(" ")[0] + (" …" if " " in text else ""), came, verdict)
        return answer


async def meet(run: Run) -> None:
    """Creates profiles and addresses, and makes the two contacts."""
    alice, bob = run.alice, run.bob
    for side, name in ((alice, "alice"), (bob, "bob")):
        await run.call(side, "ShowActiveUser")
        profile = {"displayName": name, "fullName": ""}
        made = await run.call(side, "CreateActiveUser", newUser={"profile": profile, "pastTimestamp": False})
        side.user = made["user"]["userId"]
        await run.call(side, "StartChat", mainApp=True, enableSndFiles=True)
        side.task = asyncio.create_task(side.receive())
    await run.call(alice, "ShowActiveUser")
    await run.call(alice, "ListUsers")
    made = await run.call(alice, "APICreateMyAddress", userId=alice.user)
    link = made["connLinkContact"]["connFullLink"]
    settings = {"businessAddress": False, "autoReply": {"type": "text", "text": "welcome"}}
    await run.call(alice, "APISetAddressSettings", userId=alice.user, settings=settings)
    await run.call(alice, "APIShowMyAddress", userId=alice.user)
    await run.call(alice, "APISetProfileAddress", userId=alice.user, enable=True)
    await run.plan(alice, link)
    await run.plan(bob, link)
    await run.call(bob, "Connect", incognito=False, connTarget_=link)
    await run.plan(bob, link)
    request = (await alice.hear("receivedContactRequest"))["contactRequest"]["contactRequestId"]
    await run.call(alice, "APIAcceptContact", contactReqId=request)
    bob.contact = (await bob.hear("contactConnected"))["contact"]["contactId"]
    alice.contact = (await alice.hear("contactConnected"))["contact"]["contactId"]
    await run.plan(bob, link)


async def meet_others(run: Run) -> None:
    """Rejects a request, and uses up an invitation."""
    alice, bob = run.alice, run.bob
    profile = {"displayName": "bob two", "fullName": ""}
    made = await run.call(bob, "CreateActiveUser", newUser={"profile": profile, "pastTimestamp": False})
    second = made["user"]["userId"]
    link = (await run.call(alice, "APIShowMyAddress", userId=alice.user))["contactLink"]["connLinkContact"]
    await run.call(bob, "APIConnect", userId=second, incognito=False, preparedLink_=link)
    request = (await alice.hear("receivedContactRequest", 2))["contactRequest"]["contactRequestId"]
    await run.call(alice, "APIRejectContact", contactReqId=request)
    invited = await run.call(alice, "APIAddContact", userId=alice.user, incognito=False)
    invitation = invited["connLinkInvitation"]["connFullLink"]
    await run.call(bob, "APISetActiveUser", userId=bob.user)
    await run.call(bob, "APIDeleteUser", userId=second, delSMPQueues=True)
    for side in (alice, bob):
        await run.plan(side, invitation)
    await run.call(bob, "Connect", incognito=False, connTarget_=invitation)
    contact = (await bob.hear("contactConnected", 2))["contact"]["contactId"]
    await run.plan(bob, invitation)
    chat = {"chatType": "direct", "chatId": contact}
    await run.call(bob, "APIDeleteChat", chatRef=chat, chatDeleteMode={"type": "full", "notify": False})
    await run.plan(bob, invitation)


async def talk(run: Run) -> None:
    """Sends messages, reacts to them, edits them and deletes them."""
    alice, bob = run.alice, run.bob
    to_alice: dict[str, Any] = {"chatType": "direct", "chatId": bob.contact}
    to_bob: dict[str, Any] = {"chatType": "direct", "chatId": alice.contact}
    composed = [{"msgContent": TEXT, "mentions": {}}]
    sent = await run.call(
        bob, "APISendMessages", sendRef=to_alice, liveMessage=False, signMessages=False, composedMessages=composed
    )
    item = sent["chatItems"][0]["chatItem"]["meta"]["itemId"]
    received = await alice.hear("newChatItems")
    theirs = received["chatItems"][-1]["chatItem"]["meta"]["itemId"]
    thumb = {"type": "emoji", "emoji": "👍"}
    await run.call(alice, "APIChatItemReaction", chatRef=to_bob, chatItemId=theirs, add=True, reaction=thumb)
    await bob.hear("chatItemReaction")
    updated = {"msgContent": {"type": "text", "text": "hello again"}, "mentions": {}}
    await run.call(bob, "APIUpdateChatItem", chatRef=to_alice, chatItemId=item, liveMessage=False, updatedMessage=updated)
    await alice.hear("chatItemUpdated")
    await run.call(bob, "APIDeleteChatItem", chatRef=to_alice, chatItemIds=[item], deleteMode="broadcast")
    await alice.hear("chatItemsDeleted")


async def vary(run: Run) -> None:
    """Tries every value that the package lets a program choose, for commands between two people."""
    alice, bob = run.alice, run.bob
    to_alice: dict[str, Any] = {"chatType": "direct", "chatId": bob.contact}
    composed = [{"msgContent": TEXT, "mentions": {}}]

    async def send(**options: Any) -> int:
        arguments = {"sendRef": to_alice, "liveMessage": False, "signMessages": False, "composedMessages": composed, **options}
        sent = await run.call(bob, "APISendMessages", **arguments)
        return int(sent["chatItems"][0]["chatItem"]["meta"]["itemId"])

    for mode in get_args(_types.CIDeleteMode):
        # This mode is for a group's history.
        refused = "invalidChatItemDelete" if mode == "history" else ""
        item = await send()
        await run.call(bob, "APIDeleteChatItem", refused, chatRef=to_alice, chatItemIds=[item], deleteMode=mode)
    live = await send(liveMessage=True)
    for is_live, words in ((True, "hello and"), (False, "hello and goodbye")):
        updated = {"msgContent": {"type": "text", "text": words}, "mentions": {}}
        await run.call(
            bob, "APIUpdateChatItem", chatRef=to_alice, chatItemId=live, liveMessage=is_live, updatedMessage=updated
        )
    await send(ttl=3_600)
    quoting = [{"msgContent": TEXT, "mentions": {}, "quotedItemId": live}]
    await send(composedMessages=quoting)
    thumb = {"type": "emoji", "emoji": "👍"}
    for add in (True, False):
        await run.call(bob, "APIChatItemReaction", chatRef=to_alice, chatItemId=live, add=add, reaction=thumb)
    last = {"type": "last", "count": 2}
    for query in ({"type": "filters", "favorite": True, "unread": True}, {"type": "search", "search": "alice"}):
        await run.call(bob, "APIGetChats", userId=bob.user, pendingConnections=False, pagination=last, query=query)
    await run.call(bob, "APISetContactCustomData", contactId=bob.contact, customData={"colour": "green"})
    await run.call(bob, "APISetContactCustomData", contactId=bob.contact)
    invited = await run.call(bob, "APIAddContact", userId=bob.user, incognito=True)
    link = invited["connLinkInvitation"]["connFullLink"]
    await run.call(alice, "Connect", incognito=True, connTarget_=link)
    await bob.hear("contactConnected", 3)


async def look_around(run: Run) -> None:
    """Lists, changes settings, and deletes."""
    alice, bob = run.alice, run.bob
    everything = {"type": "filters", "favorite": False, "unread": False}
    await run.call(
        alice, "APIGetChats", userId=alice.user, pendingConnections=True, pagination={"type": "last", "count": 20},
        query=everything,
    )
    await run.call(alice, "APIListContacts", userId=alice.user)
    await run.call(alice, "APIListGroups", userId=alice.user)
    await run.call(alice, "APISetContactCustomData", contactId=alice.contact, customData={"colour": "green"})
    await run.call(alice, "APISetContactPrefs", contactId=alice.contact, preferences={"voice": {"allow": "no"}})
    await run.call(alice, "APIUpdateProfile", userId=alice.user, profile={"displayName": "alice", "fullName": "A. L."})
    await bob.hear("contactUpdated")
    await run.call(alice, "APISetUserAutoAcceptMemberContacts", userId=alice.user, onOff=True)
    await run.call(alice, "APIDeleteMyAddress", userId=alice.user)
    chat = {"chatType": "direct", "chatId": alice.contact}
    await run.call(alice, "APIDeleteChat", chatRef=chat, chatDeleteMode={"type": "full", "notify": True})
    await bob.hear("contactDeletedByContact")
    chat = {"chatType": "direct", "chatId": bob.contact}
    for mode in ("messages", "entity", "full"):
        arguments = {"type": mode} if mode == "messages" else {"type": mode, "notify": False}
        await run.call(bob, "APIDeleteChat", chatRef=chat, chatDeleteMode=arguments)


async def refuse_the_rest(run: Run) -> None:
    """Calls the remaining commands of the package: groups and files, which a notification core does not have."""
    left = [name for name in commands() if name not in run.rows and name != "APIStopChat"]
    given = {
        **GROUP, "userId": run.alice.user, "contactId": 1, "incognito": False, "groupProfile": GROUP_PROFILE,
        "chatItemIds": [1], "blocked": True, "withMessages": False, "customData": {}, "fileId": 1,
        "userApprovedRelays": True,
    }
    for name in left:
        wanted = shapes.members(getattr(_commands, name))
        missing = [member for member, (_, is_required) in wanted.items() if is_required and member not in given]
        if missing:
            sys.exit(f"{name}: a command that this program does not know yet needs {missing}")
        await run.call(run.alice, name, **{member: given[member] for member in wanted if member in given})
    await run.call(run.alice, "APIStopChat")


def commands() -> list[str]:
    suffix = "_cmd_string"
    return [name[: -len(suffix)] for name in vars(_commands) if name.endswith(suffix)]


async def play(folder: Path) -> Run:
    os.environ["NIGHTPORTER_RELAY"] = str(folder / "relay")
    sides = [Side(await ChatApi.init(SqliteDb(str(folder / name)))) for name in ("alice", "bob")]
    run = Run(*sides)
    steps: list[Callable[[Run], Any]] = [meet, meet_others, talk, vary, look_around, refuse_the_rest]
    try:
        for step in steps:
            await step(run)
    finally:
        for side in sides:
            if side.task is not None:
                side.task.cancel()
            await side.api.close()
    for event in (event for side in sides for event in side.events):
        run.faults += [f"{event['type']}: {fault}" for fault in event_faults(event)]
    run.faults += [f"{kind} is a kind of the package's" for kind in sorted(OURS & package_events())]
    if not any(event["type"] in OURS for side in sides for event in side.events):
        run.faults.append("no event of our own came")
    return run


def package_events() -> set[str]:
    """The kinds of events for which the package has types."""
    kinds = [shapes.resolve(kind, _events) for kind in get_args(_events.ChatEvent)]
    return {tag for kind in kinds for tag in get_args(shapes.members(kind)["type"][0])}


def event_faults(event: dict[str, Any]) -> list[str]:
    """The event's faults against the package's types, or against our schema if the package has none."""
    if event["type"] in OURS:
        return list(schemas.check("event", event))
    return list(shapes.check(_events.ChatEvent, event, "event", _events))


def plans(run: Run) -> list[str]:
    """The table rows: one for each answer to a plan in the package's types."""
    kinds: list[str] = []
    for kind in get_args(_types.ConnectionPlan_Tag):
        within = {"invitationLink": _types.InvitationLinkPlan_Tag, "contactAddress": _types.ContactAddressPlan_Tag}
        kinds += [f"{kind}.{tag}" for tag in get_args(within[kind])] if kind in within else [kind]
    missing = [kind for kind in kinds if kind not in run.plans and kind not in UNSEEN_PLANS]
    run.faults += [f"no plan was {kind}, and no reason is known" for kind in missing]
    run.faults += [f"a plan was {kind}, which has a reason not to come" for kind in run.plans & UNSEEN_PLANS.keys()]
    return [f"| `{kind}` | {'came' if kind in run.plans else UNSEEN_PLANS.get(kind, '?')} |" for kind in kinds]


def page(run: Run) -> str:
    rows = [run.rows[name] for name in commands()]
    works = sum(row.verdict == "works" for row in rows)
    events = sorted(run.alice.heard | run.bob.heard)
    ours = ", ".join(f"`{kind}`" for kind in sorted(OURS))
    version = importlib.metadata.version("simplex-chat")
    lines = [
        "<!-- Written by tools/coverage.py from a run. -->",
        "",
        f"# What of `simplex-chat` {version} works",
        "",
        f"Each of the package's {len(rows)} commands, called through the package on `libsimplex.so`: {works} work, the others are",
        "refused with an error of the package's own type. Every answer was held against the package's types; the member `np` of an error is",
        "ours, and the package passes it by. So was every event of a kind that the package has. Other kinds are ours, and passed by as well:",
        f"{ours}.",
        "What came of them was held against [`event.schema.json`](../../spec/protocol/event.schema.json).",
        "",
        "| command | sent | answer | verdict |",
        "|---|---|---|---|",
        *(f"| `{row.command}` | `{row.sent}` | `{row.came}` | {row.verdict} |" for row in rows),
        "",
        "What `/_connect plan` says of a link:",
        "",
        "| answer | in this run |",
        "|---|---|",
        *plans(run),
        "",
        "Events that were waited for, and came: " + ", ".join(f"`{event}`" for event in events) + ".",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nightporter-coverage-") as folder:
        run = asyncio.run(asyncio.wait_for(play(Path(folder)), 240))
    text = page(run)
    for fault in run.faults:
        print(fault, file=sys.stderr)
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != text:
            print("COVERAGE.md is not what a run gives: run tools/coverage.py", file=sys.stderr)
            return 1
    else:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
