"""The Debian packages, their units and manual pages: installed, configured, upgraded and purged in a copy of this system."""

import gzip
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from .support import PATIENCE, ROOT

SERVERS = os.environ.get("PORTER_SERVERS", str(ROOT / "Servers/.build/debug"))
UNITS = ROOT / "packaging/systemd"
PROGRAMS = ["porter-relay", "porter-push", "porter-admin", "porter-server"]

# Runs in a copy-on-write view of the system. Each line that begins with "==" ends a part.
STORY = r"""
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
dpkg -i /packages/*.deb >/install.log 2>&1 || { cat /install.log; exit 1; }
for name in porter-relay porter-push porter-server; do
  getent passwd $name | cut -d: -f6,7
  systemctl is-enabled $name.service || true
done
echo "== installed"
install -d -m 700 -o porter-relay -g porter-relay /var/lib/porter-relay
runuser -u porter-relay -- porter-relay address --name relay.example.org
stat -c '%U %a %n' /var/lib/porter-relay/key.pem
echo "== used"
echo "grace = 11s" >> /etc/nightporter/porter-relay.conf
dpkg -i --force-confdef /packages/porter-relay_*.deb >/install.log 2>&1 || { cat /install.log; exit 1; }
porter-relay --print-config | grep '^grace'
echo "== upgraded"
systemd-analyze verify --man=yes /lib/systemd/system/porter-*.service 2>&1
echo "== verified"
dpkg -r porter-relay >/dev/null
ls /etc/nightporter/porter-relay.conf /var/lib/porter-relay/key.pem
command -v porter-relay || echo removed
dpkg -P porter-relay porter-push porter-server porter-admin >/remove.log 2>&1 || { cat /remove.log; exit 1; }
find /usr /etc /var/lib -name 'porter-*' -print
ls -d /etc/nightporter /var/lib/porter-relay 2>/dev/null || true
echo "== purged"
"""


class PackageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp(prefix="porter-debs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        environment = {
            **os.environ, "SERVERS": SERVERS, "SERVER": str(ROOT / ".build/debug/porter-server"), "COMPRESSION": "none"}
        subprocess.run(
            [ROOT / "scripts/debs", cls.folder], env=environment, check=True, capture_output=True, timeout=PATIENCE * 2)

    def test_they_are_installed_used_upgraded_and_purged(self):
        if os.geteuid() != 0:
            self.skipTest("only root can install packages, in a copy of the system too")
        place = tempfile.mkdtemp(prefix="porter-root-")
        self.addCleanup(shutil.rmtree, place)
        commands = f"""
            set -e
            mount -t tmpfs none {place}
            mkdir {place}/upper {place}/work {place}/root
            mount -t overlay -o lowerdir=/,upperdir={place}/upper,workdir={place}/work none {place}/root
            mount --rbind /dev {place}/root/dev
            mount -t proc none {place}/root/proc
            cp -r {self.folder} {place}/root/packages
            exec chroot {place}/root sh
        """
        done = subprocess.run(
            ["unshare", "-m", "-p", "-f", "sh", "-c", commands], input=STORY, capture_output=True, text=True,
            timeout=PATIENCE * 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        parts = re.split(r"^== \w+\n", done.stdout, flags=re.MULTILINE)
        installed, used, upgraded, verified, purged, rest = parts
        self.assertEqual(installed, "".join(
            f"/var/lib/{name}:/usr/sbin/nologin\ndisabled\n" for name in ["porter-relay", "porter-push", "porter-server"]))
        self.assertRegex(used, r"^https://relay\.example\.org#[A-Za-z0-9_-]{43}\nporter-relay 600 /var/lib/porter-relay/key\.pem\n$")
        self.assertEqual(upgraded, "grace = 11s  # /etc/nightporter/porter-relay.conf:" + upgraded.rsplit(":", 1)[1])
        self.assertEqual(verified, "", "systemd-analyze verify")
        self.assertEqual(
            purged, "/etc/nightporter/porter-relay.conf\n/var/lib/porter-relay/key.pem\nremoved\n", "nothing is left by a purge")
        self.assertEqual(rest, "")

    def test_units_expose_little(self):
        for unit in sorted(UNITS.glob("*.service")):
            done = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit],
                capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_units_leave_the_boot_identifier_readable(self):
        for unit in UNITS.glob("*.service"):
            self.assertNotRegex(unit.read_text(), r"(?m)^ProcSubset=pid$", "hides /proc/sys/kernel/random/boot_id")

    def test_manuals_are_well_formed_and_have_all_that_the_help_has(self):
        for name in PROGRAMS:
            package = next(Path(self.folder).glob(f"{name}_*.deb"))
            root = Path(self.folder, name)
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
            page = gzip.decompress((root / f"usr/share/man/man8/{name}.8.gz").read_bytes())
            checked = subprocess.run(
                ["man", "--warnings", "-l", "-"], input=page, capture_output=True, timeout=PATIENCE,
                env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MANROFFOPT": "-ww"})
            self.assertEqual((checked.returncode, checked.stderr), (0, b""), name)
            text = checked.stdout.decode()
            help_ = subprocess.run([root / f"usr/bin/{name}", "--help"], capture_output=True, text=True, check=True).stdout
            flags = set(re.findall(r"--[a-z-]+", help_))
            self.assertGreater(len(flags), 3)
            self.assertEqual(flags - set(re.findall(r"--[a-z-]+", text)), set(), name)

    def test_a_sample_of_the_settings_is_what_applies_without_it(self):
        for name in PROGRAMS[:3]:
            program = f"{SERVERS}/{name}"
            sample = subprocess.run([program, "--sample-config"], capture_output=True, text=True, check=True).stdout
            file = Path(self.folder, name + ".conf")
            defaults = [line[1:] for line in sample.splitlines() if re.match(r"#[a-z-]+ = ", line)]
            self.assertGreater(len(defaults), 5)
            used = subprocess.run([program, "--config", "/dev/null", "--print-config"], capture_output=True, text=True, check=True)
            settings = [line for line in used.stdout.splitlines() if not line.startswith("#")]
            set_ = [line.split("  # ")[0] for line in settings]
            self.assertEqual([line for line in defaults if line in set_], set_)
            file.write_text(sample)
            again = subprocess.run([program, "--config", file, "--print-config"], capture_output=True, text=True, check=True)
            self.assertEqual(again.stdout, used.stdout)


if __name__ == "__main__":
    unittest.main()
