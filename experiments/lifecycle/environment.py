"""The environment of a trial: package versions and the state of the git checkout."""

import hashlib
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


PACKAGES = ("torch", "lightning", "hydra-core", "omegaconf", "numpy", "pyarrow")


@cache
def versions() -> dict[str, str]:
    """Python's version and those of the packages that training stands on."""
    return {"python": sys.version.split()[0]} | {package: version(package) for package in PACKAGES}


@cache
def git_state() -> str:
    """The commit of this code and a digest of what was changed since; empty where that cannot be known."""
    if not (ROOT / ".git").exists():
        return ""
    try:
        commit, change = (_git(*words) for words in (("rev-parse", "--short=12", "HEAD"), ("diff", "HEAD")))
    except OSError:  # there is no git
        return ""
    return commit.decode().strip() + (f"+{hashlib.sha256(change).hexdigest()[:8]}" if change else "")


def _git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False).stdout
