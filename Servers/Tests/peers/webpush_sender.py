"""Seals messages with pywebpush. For each line of standard input, a number of bytes, it prints a line of JSON with a sealed message of that
length and the receiver's private key."""

import base64
import json
import os
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pywebpush import WebPusher

for line in sys.stdin:
    receiver, secret, text = ec.generate_private_key(ec.SECP256R1()), os.urandom(16), os.urandom(int(line))
    point = receiver.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    keys = {"p256dh": base64.urlsafe_b64encode(point).decode(), "auth": base64.urlsafe_b64encode(secret).decode()}
    sealed = WebPusher({"endpoint": "https://push.example/a", "keys": keys}).encode(text, content_encoding="aes128gcm")
    print(json.dumps({
        "own": receiver.private_numbers().private_value.to_bytes(32, "big").hex(), "secret": secret.hex(), "text": text.hex(),
        "body": sealed["body"].hex()}), flush=True)
