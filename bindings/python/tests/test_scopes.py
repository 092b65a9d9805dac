"""A host's own pushes, end to end: a service with PyNaCl alone, `porter-server send`, and the library in Python."""

from __future__ import annotations

import base64
import importlib.util
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

from nacl.signing import SigningKey

from nightporter import Controller
from nightporter._library import ENVIRONMENT

from .support import REPOSITORY, run

SERVER = Path(os.environ[ENVIRONMENT]).with_name("porter-server")


def load_service() -> ModuleType:
    path = REPOSITORY / "Tests" / "PorterPushTests" / "peers" / "scope_service.py"
    spec = importlib.util.spec_from_file_location("scope_service", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class ServiceTests(unittest.TestCase):
    def test_a_service_in_python_reaches_its_host(self) -> None:
        service, key = load_service(), SigningKey.generate()

        async def story(folder: str) -> None:
            relay = f"{folder}/relay.db"
            async with Controller(f"{folder}/alice") as c:
                await c.send('/_create user {"profile":{"displayName":"alice","fullName":""}}')
                await c.send(f'/_network {{"relay":"{relay}"}}')
                await c.send("/_start")
                request = f'{{"name":"tabs","serviceKey":"{encoded(bytes(key.verify_key))}","commands":["tab.open"]}}'
                scope: Any = (await c.send(f"/_ntf scope subscribe {request}"))["scope"]
                envelope = {"id": encoded(os.urandom(16)), "version": 1, "expires": int(time.time()) + 3600}
                for command in ("tab.open", "tab.burn"):
                    envelope |= {"id": encoded(os.urandom(16)), "command": command, "data": {"url": "ü"}}
                    message = service.seal(envelope, scope["address"], key)
                    send = [str(SERVER), "send", "--relay", relay, "--to", scope["address"]]
                    for _ in range(2):
                        subprocess.run(send, input=message, check=True)
                found: list[Any] = []
                async for event in c.events():
                    if event["type"] == "applicationPush":
                        found.append(event["applicationPush"])
                    if len(found) == 2:
                        break
                self.assertEqual([push["outcome"] for push in found], ["current", "unknownCommand"])
                self.assertEqual(found[0]["envelope"]["data"], {"url": "ü"})
                self.assertEqual(found[1]["envelope"], envelope)
                ids = ",".join(str(push["pushId"]) for push in found)
                await c.send(f"/_ntf scope settle {ids}")
                left: Any = await c.send("/_ntf scope pushes tabs")
                self.assertEqual(left["applicationPushes"], [])

        with tempfile.TemporaryDirectory() as folder:
            run(story(folder))
