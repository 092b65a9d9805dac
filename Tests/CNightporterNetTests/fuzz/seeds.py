"""Writes a relay's output, as in spec/protocol/relay-http.md, or its address, to a folder: seeds.py news|headers|addresses FOLDER"""

import sys
from pathlib import Path

FINGERPRINT = b"ENI0bTVxObf_Bfaf0KokqpeHYrYysH-pjG8tOVif1xQ"

SEEDS = {
    # The first byte says into what pieces the rest is split.
    "news": [
        b"\x10retry: 2000\n\nevent: open\nid: 7tJ0wX1c.12\ndata: open\n\n:\n\nevent: news\nid: 7tJ0wX1c.15\ndata: news\n\n",
        b"\x01event: reset\r\nid: a.1\r\ndata: reset\r\n\r\nevent: other\nid: b.2\n\n",
        b"\x07retry: 60000\nretry: 0\nretry: x\nevent:news\nid: not an id\n\n" + b"x" * 300 + b"\nevent: open\n\n",
    ],
    "headers": [
        b"HTTP/1.1 200\r\nContent-Type: application/octet-stream\r\nContent-Length: 25\r\n\r\n",
        b"HTTP/2 429 \r\nretry-after: 17\r\nporter-limit: mailbox\r\ncontent-type: text/plain\r\n\r\n",
        b"HTTP/1.1 503\r\nRetry-After: 99999999999\r\n\r\nHTTP/1.1 200\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n",
        # A request, to extract its mailbox: with a signature, and without.
        b"\x01" + bytes(24) + b"\x01" + bytes(64) + b"\x01" + b"m" * 24 + b"\x04",
        b"\x01" + bytes(24) + b"\x00\x01" + b"m" * 24 + b"\x04retry-after: 5\n",
    ],
    # The first byte has the options, the second line is a proxy.
    "addresses": [
        b"\x00https://relay.example.org#" + FINGERPRINT,
        b"\x02https://relay.example.org:8443/#" + FINGERPRINT + b"," + FINGERPRINT + b"\nhttp://user:word@proxy.example.org:3128",
        b"\x01https://" + b"a" * 56 + b".onion\nsocks5h://127.0.0.1:9050",
        b"\x04HTTPS://[2001:db8::1]:443\nsocks5h://name@[::1]:9050",
    ],
}

for number, seed in enumerate(SEEDS[sys.argv[1]]):
    Path(sys.argv[2], f"seed-{number}").write_bytes(seed)
