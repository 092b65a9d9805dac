"""A stand-in for Apple's service, which checks each provider token with the library cryptography. push_service.py describes how a test
controls it."""

import base64
import json

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

import push_service

KEY_ID, TEAM_ID, TOPIC = "ABCDE12345", "TEAM567890", "org.example.app"


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Service(push_service.Service):
    def __init__(self, folder: str, streams: int):
        super().__init__(streams)
        provider = ec.generate_private_key(ec.SECP256R1())
        push_service.write(folder, "AuthKey.p8", push_service.pem(provider))
        self.public = provider.public_key()

    def complaint(self, headers) -> tuple[int, str] | None:
        """The status and reason if Apple would refuse the request, by its own table."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind != "bearer":
            return 403, "MissingProviderToken"
        try:
            head, body, signature = token.split(".")
            numbers = decoded(signature)
            assert len(numbers) == 64 and json.loads(decoded(head)) == {"alg": "ES256", "kid": KEY_ID}
            r, s = int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big")
            self.public.verify(encode_dss_signature(r, s), f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))
            claims = json.loads(decoded(body))
            assert claims["iss"] == TEAM_ID and set(claims) == {"iss", "iat"}
        except (AssertionError, ValueError, KeyError, InvalidSignature):
            return 403, "InvalidProviderToken"
        age = self.now() - claims["iat"]
        if not -60 <= age <= 3600:
            return 403, "ExpiredProviderToken"
        if headers.get("apns-topic") != TOPIC:
            return 400, "BadTopic"
        if headers.get(":method") != "POST":
            return 405, "MethodNotAllowed"
        if not headers.get(":path", "").startswith("/3/device/"):
            return 404, "BadPath"
        if headers.get("apns-priority") not in ("5", "10"):
            return 400, "BadPriority"
        if headers.get("apns-push-type") not in ("alert", "background"):
            return 400, "InvalidPushType"
        if headers["apns-push-type"] == "background" and headers["apns-priority"] == "10":
            return 400, "BadPriority"
        if not headers.get("apns-expiration", "").isdigit():
            return 400, "BadExpirationDate"
        return None

    def refusal(self, headers: dict) -> dict | None:
        complaint = self.complaint(headers)
        return complaint and {"status": complaint[0], "reason": complaint[1]}

    def response(self, action: dict) -> tuple[int, list[tuple[str, str]], bytes]:
        status, reason = action.get("status", 200), action.get("reason")
        fields = [("apns-id", "00000000-0000-0000-0000-000000000000")]
        if status == 200:
            return status, fields, b""
        content = {"reason": reason} | ({"timestamp": action.get("timestamp", 1_700_000_000_000)} if status == 410 else {})
        return status, fields, (json.dumps(content) if reason else action.get("body", "")).encode()

    def text(self, headers: dict, body: bytes) -> str:
        return body.decode()


push_service.run(Service)
