"""A stand-in for a push service. It verifies each VAPID token with the library py-vapid, and opens each message with http-ece, as the receiver
described in its first line. push_service.py describes how a test controls it."""

import base64
import json
import os

import http_ece
import py_vapid
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import push_service


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def point(private) -> bytes:
    return private.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


class Service(push_service.Service):
    def __init__(self, folder: str, streams: int):
        super().__init__(streams)
        sender, self.receiver = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        push_service.write(folder, "vapid.pem", push_service.pem(sender))
        self.sender, self.secret = encoded(point(sender)), os.urandom(16)

    def started(self) -> dict:
        return {"p256dh": point(self.receiver).hex(), "auth": self.secret.hex(), "sender": self.sender}

    def complaint(self, headers: dict) -> int | None:
        """The status if a push service must refuse the request by RFC 8030, 8291 and 8292."""
        authorization = headers.get("authorization", "")
        try:
            assert py_vapid.Vapid02.verify(authorization)
            parts = dict(part.split("=", 1) for part in authorization.split(" ")[1].split(","))
            body = parts["t"].split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            assert set(claims) == {"aud", "exp", "sub"} and claims["sub"] == "mailto:operator@example.org"
            assert claims["aud"] == f"https://{headers[':authority']}"
        except (AssertionError, KeyError, ValueError, IndexError, py_vapid.VapidException):
            return 403
        if parts["k"] != self.sender or not 0 < claims["exp"] - self.now() <= 86_400:
            return 403
        if headers.get(":method") != "POST" or not headers.get(":path", "").startswith("/push/"):
            return 404
        # A subscription made with a key other than the server's.
        if headers[":path"].startswith("/push/of-another-key"):
            return 403
        if not headers.get("ttl", "").isdigit() or headers.get("urgency") not in ("very-low", "low", "normal", "high"):
            return 400
        if len(headers.get("topic", "")) > 32 or headers.get("content-encoding") != "aes128gcm":
            return 400
        return None

    def refusal(self, headers: dict) -> dict | None:
        status = self.complaint(headers)
        return status and {"status": status}

    def response(self, action: dict) -> tuple[int, list[tuple[str, str]], bytes]:
        status = action.get("status", 201)
        location = "/elsewhere" if status // 100 == 3 else "/message/1"
        return status, [("location", location)], action.get("body", "").encode()

    def text(self, headers: dict, body: bytes) -> str:
        assert len(body) <= 4096 and str(len(body)) == headers["content-length"]
        return http_ece.decrypt(body, private_key=self.receiver, auth_secret=self.secret).decode()


push_service.run(Service)
