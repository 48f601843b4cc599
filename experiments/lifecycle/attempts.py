"""What earlier attempts at a trial left: they are kept under `attempts/N/`."""

from pathlib import Path

from analysis.record.layout import ATTEMPTS, HISTORY, LOG, STREAM, SUMMARY


def set_attempt_aside(folder: Path) -> None:
    """Move what an attempt left into `attempts/N/`; a summary first, so that no trial seems complete that is not."""
    left = [folder / name for name in (SUMMARY, STREAM, HISTORY, LOG) if (folder / name).exists()]
    left += folder.glob("rank*.log")
    if left:
        attempts = folder / ATTEMPTS
        home = attempts / str(max((int(path.name) for path in attempts.glob("*")), default=-1) + 1)
        home.mkdir(parents=True)
        for path in left:
            path.rename(home / path.name)
