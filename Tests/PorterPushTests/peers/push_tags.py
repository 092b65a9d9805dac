"""The tags of a message push, as in spec/protocol/push.md, with PyNaCl and hashlib alone.

Reads {"payload": the push, "secret": hex, "public": hex} from standard input: the device's secret key and the server's public one.
Writes {"entries": the number of mailboxes that the push is about, "tags": hex}.
"""

import base64
import hashlib
import json
import sys

from nacl.public import Box, PrivateKey, PublicKey


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def keyed(key: bytes, message: bytes, size: int) -> bytes:
    return hashlib.blake2b(message, key=key, digest_size=size).digest()


def tags(payload: dict, box: Box) -> tuple[int, bytes]:
    data = payload["notificationData"]
    nonce = decoded(data["nonce"])
    padded = box.decrypt(decoded(data["message"]), nonce)
    assert len(padded) == 2_688
    text = padded[2 : 2 + int.from_bytes(padded[:2], "big")].decode()
    notifiers = [decoded(entry.split(" ")[0]) for entry in text.split(";") if entry]
    key = keyed(box.shared_key(), b"Nightporter mailbox tags v1", 32)
    found = [keyed(keyed(key, notifier, 16), nonce, 16)[:8] for notifier in notifiers]
    pad = keyed(key, b"pad", 16)
    found += [keyed(pad, nonce + bytes([place]), 16)[:8] for place in range(len(notifiers), 7)]
    return len(notifiers), b"".join(found)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    box = Box(PrivateKey(bytes.fromhex(request["secret"])), PublicKey(bytes.fromhex(request["public"])))
    count, expected = tags(request["payload"], box)
    json.dump({"entries": count, "tags": expected.hex()}, sys.stdout)
