"""The addresses and options that np_net_relay() accepts and refuses."""

from __future__ import annotations

from .driver import ARGUMENT, NetCase


class AddressTests(NetCase):
    pin = "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"

    def test_addresses_that_are_none(self) -> None:
        driver = self.drive()
        for address in (
            "http://relay.test", "relay.test", "https://", "ftp://relay.test", "https://relay.test/path",
            "https://relay.test/?q", "https://relay.test?", "https://user@relay.test", "https://u:p@relay.test",
            "https://relay.test#", "https://relay.test#abc", f"https://relay.test#{self.pin}=",
            f"https://relay.test#{self.pin},", f"https://relay.test#,{self.pin}",
            f"https://relay.test#{self.pin},{self.pin},{self.pin}", f"https://relay.test#{self.pin[:-1]}h",
            f"https://relay.test#{self.pin[:-1]}+", "https://relay.test:99999", "https://relay.test:0x10",
            "https://" + "a" * 3000, "https://relay\x7f.test", "https://r\u00e9lay.test", "https://relay.onion",
            "https://RELAY.ONION.", "https:/relay.test", "https:///relay.test", "https://relay%2etest",
        ):  # fmt: skip
            with self.subTest(address):
                self.assertEqual(driver.refused(address), ARGUMENT)

    def test_addresses(self) -> None:
        driver = self.drive()
        for address in (
            "https://relay.test", "HTTPS://relay.test/", "https://127.0.0.1:4433", "https://[::1]:4433",
            f"https://relay.test#{self.pin}", f"https://relay.test:1#{self.pin},{self.pin}",
        ):  # fmt: skip
            with self.subTest(address):
                driver.open(address)
                driver.do("free", "freed")

    def test_options_that_are_none(self) -> None:
        driver = self.drive()
        for options in (
            {"proxy": "socks5://127.0.0.1:9050"}, {"proxy": "socks4a://127.0.0.1:9050"}, {"proxy": "127.0.0.1:9050"},
            {"proxy": "socks5h://127.0.0.1"}, {"proxy": "https://127.0.0.1:1"}, {"isolate": 1},
            {"proxy": "http://127.0.0.1:1", "isolate": 1}, {"proxy": "socks5h://u:p@127.0.0.1:1", "isolate": 1},
            {"connect": -1}, {"connect": 60001}, {"proxy": "socks5h:/127.0.0.1:9050"},
            {"proxy": "http:///127.0.0.1:1"},
        ):  # fmt: skip
            with self.subTest(options):
                self.assertEqual(driver.refused("https://relay.test", **options), ARGUMENT)
        self.assertEqual(driver.refused("https://relay.onion", proxy="http://127.0.0.1:1"), ARGUMENT)
