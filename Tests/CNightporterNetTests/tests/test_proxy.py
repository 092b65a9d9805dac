"""Proxies: they resolve the names, and one relay's connections cannot be linked to another's."""

from __future__ import annotations

import socket

from . import certificates
from .driver import OK, SYSTEM, NetCase
from .proxies import Asked, ConnectProxy, SocksProxy


class ProxyTests(NetCase):
    # No name server resolves it: RFC 6761.
    host = "relay.invalid"

    def url(self) -> str:
        return f"https://{self.host}:7777#{self.certificate.fingerprint}"

    def test_names_are_not_resolved_here(self) -> None:
        for kind, scheme in ((SocksProxy, "socks5h"), (ConnectProxy, "http")):
            with self.subTest(scheme):
                server = self.serve()
                proxy = self.enterContext(kind(server.port))
                driver = self.drive()
                driver.open(self.url(), proxy=f"{scheme}://127.0.0.1:{proxy.port}")
                self.assertEqual(driver.exchange(b"1"), (OK, "none", b"re:1"))
                self.assertEqual(driver.exchange(b"2").code, OK)
                self.assertEqual(proxy.asked, [Asked(self.host, 7777, True, None)])

    def test_an_onion_address(self) -> None:
        server = self.serve()
        proxy = self.enterContext(SocksProxy(server.port))
        driver = self.drive()
        host = "a" * 56 + ".onion"
        driver.open(f"https://{host}#{self.certificate.fingerprint}", proxy=f"socks5h://127.0.0.1:{proxy.port}")
        self.assertEqual(driver.exchange().code, OK)
        self.assertEqual(proxy.asked, [Asked(host, 443, True, None)])

    def test_the_certificate_is_verified_through_a_proxy(self) -> None:
        self.certificate = certificates.make(self.folder, self.host)
        server = self.serve()
        proxy = self.enterContext(SocksProxy(server.port))
        for host, ca, failure in (
            (self.host, self.certificate.certificate, "none"),
            ("other.invalid", self.certificate.certificate, "certificate"),
            (self.host, "", "certificate"),
        ):
            driver = self.drive()
            driver.open(f"https://{host}", proxy=f"socks5h://127.0.0.1:{proxy.port}", ca=ca)
            self.assertEqual(driver.exchange().failure, failure)

    def test_credentials_of_the_address(self) -> None:
        for kind, scheme in ((SocksProxy, "socks5h"), (ConnectProxy, "http")):
            with self.subTest(scheme):
                server = self.serve()
                proxy = self.enterContext(kind(server.port))
                driver = self.drive()
                driver.open(self.url(), proxy=f"{scheme}://me:secret@127.0.0.1:{proxy.port}")
                self.assertEqual(driver.exchange().code, OK)
                self.assertEqual(proxy.asked[0].user, "me:secret")

    def test_isolation(self) -> None:
        server = self.serve()
        proxy = self.enterContext(SocksProxy(server.port))
        for _ in range(2):
            driver = self.drive()
            driver.open(self.url(), proxy=f"socks5h://127.0.0.1:{proxy.port}", isolate=1)
            self.assertEqual(driver.exchange().code, OK)
            driver.suspend()
            driver.resume()
            self.assertEqual(driver.exchange().code, OK)
        users = [asked.user for asked in proxy.asked]
        # One transport keeps its user across a suspension; another transport has a different one.
        self.assertEqual(users[0], users[1])
        self.assertEqual(users[2], users[3])
        self.assertEqual(len({None, *users}), 3)

    def test_a_proxy_that_refuses(self) -> None:
        for kind, scheme in ((SocksProxy, "socks5h"), (ConnectProxy, "http")):
            with self.subTest(scheme):
                proxy = self.enterContext(kind(0, refuses=True))
                driver = self.drive()
                driver.open(self.url(), proxy=f"{scheme}://127.0.0.1:{proxy.port}")
                self.assertEqual(driver.exchange(), (SYSTEM, "proxy", b""))
                self.assertEqual(len(proxy.asked), 1)

    def test_a_proxy_that_is_not_there_is_not_gone_around(self) -> None:
        server, driver = self.serve(), self.drive(NO_PROXY="*", no_proxy="*")
        # Bound, so that no other process is given the port, but it does not listen.
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            driver.open(self.pinned(server), proxy=f"socks5h://127.0.0.1:{bound.getsockname()[1]}")
            self.assertEqual(driver.exchange(), (SYSTEM, "proxy", b""))
        self.assertEqual(server.record.connections, 0)
