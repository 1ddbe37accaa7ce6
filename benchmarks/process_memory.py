"""What Linux counts of this process's memory."""

from pathlib import Path


def status_bytes(field: str) -> int:
    """Return VmRSS, now, or VmHWM, the most so far, in bytes (a child inherits getrusage's peak)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(value) * 1024


def restart_peak() -> None:
    """Let the high-water mark, VmHWM, start again from here."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
