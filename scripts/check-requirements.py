"""Exits with status 0 if the distributions pinned by a requirements file are installed in exactly these versions."""

import sys
from importlib import metadata


def installed(requirement: str) -> bool:
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False


lines = [line.split("#")[0].strip() for line in open(sys.argv[1], encoding="utf-8")]
sys.exit(0 if all(installed(line) for line in lines if line) else 1)
