"""The servers accepted as the relay."""

from __future__ import annotations

import ssl
from pathlib import Path

from . import certificates
from .driver import OK, SYSTEM, NetCase
from .server import Server


class CertificateTests(NetCase):
    def failure(self, server: Server, url: str, **options: object) -> str:
        driver = self.drive()
        driver.open(url, **options)
        answer = driver.exchange()
        self.assertEqual(answer.code, OK if answer.failure == "none" else SYSTEM)
        if answer.failure != "none":
            self.assertEqual(server.record.requests, [])
        return answer.failure

    def other(self, **options: object) -> certificates.Certificate:
        return certificates.make(self.folder, name="other", **options)  # type: ignore[arg-type]

    def test_another_key_than_the_address_names(self) -> None:
        server = self.serve()
        self.assertEqual(
            self.failure(server, f"https://127.0.0.1:{server.port}#{self.other().fingerprint}"), "fingerprint"
        )

    def test_one_of_two_keys(self) -> None:
        mine, other = self.certificate.fingerprint, self.other().fingerprint
        for pins in (f"{mine},{other}", f"{other},{mine}"):
            server = self.serve()
            self.assertEqual(self.failure(server, f"https://127.0.0.1:{server.port}#{pins}"), "none")

    def test_an_authority_does_not_stand_in_for_the_key(self) -> None:
        self.certificate = certificates.make(self.folder, "127.0.0.1")
        server = self.serve()
        url = f"https://127.0.0.1:{server.port}#{self.other().fingerprint}"
        self.assertEqual(self.failure(server, url, ca=self.certificate.certificate), "fingerprint")

    def test_with_a_fingerprint_no_date_counts(self) -> None:
        self.certificate = self.other(days=-1)
        server = self.serve()
        self.assertEqual(self.failure(server, self.pinned(server)), "none")

    def test_with_a_fingerprint_no_file_of_authorities_is_read(self) -> None:
        server = self.serve()
        self.assertEqual(self.failure(server, self.pinned(server), ca=self.folder / "missing.pem"), "none")

    def test_an_unknown_authority(self) -> None:
        server = self.serve()
        self.assertEqual(self.failure(server, f"https://localhost:{server.port}"), "certificate")

    def test_a_file_of_authorities(self) -> None:
        self.certificate = certificates.make(self.folder, "localhost")
        server = self.serve()
        url = f"https://localhost:{server.port}"
        self.assertEqual(self.failure(server, url, ca=self.certificate.certificate), "none")

    def test_a_file_of_authorities_that_is_none(self) -> None:
        server = self.serve()
        empty = Path(self.folder / "empty.pem")
        empty.write_text("nothing")
        for path in (empty, self.folder / "missing.pem"):
            self.assertEqual(self.failure(server, f"https://localhost:{server.port}", ca=path), "tls")

    def test_another_host(self) -> None:
        server = self.serve()
        url = f"https://localhost:{server.port}"
        self.assertEqual(self.failure(server, url, ca=self.certificate.certificate), "certificate")

    def test_an_expired_certificate(self) -> None:
        self.certificate = self.other(host="localhost", days=-1)
        server = self.serve()
        url = f"https://localhost:{server.port}"
        self.assertEqual(self.failure(server, url, ca=self.certificate.certificate), "certificate")

    def test_no_tls_before_1_3(self) -> None:
        server = Server(self.certificate)
        server.context.minimum_version = ssl.TLSVersion.TLSv1_2
        server.context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.enterContext(server)
        self.assertEqual(self.failure(server, self.pinned(server)), "tls")

    def test_the_environment_names_no_authorities_or_proxies(self) -> None:
        proxy = "http://127.0.0.1:1"
        server = self.serve()
        driver = self.drive(
            HTTPS_PROXY=proxy, https_proxy=proxy, ALL_PROXY=proxy, all_proxy=proxy,
            CURL_CA_BUNDLE=str(self.certificate.certificate),
        )  # fmt: skip
        driver.open(self.pinned(server))
        self.assertEqual(driver.exchange().code, OK)
        driver.do("free", "freed")
        driver.open(f"https://localhost:{server.port}")
        self.assertEqual(driver.exchange().failure, "certificate")
