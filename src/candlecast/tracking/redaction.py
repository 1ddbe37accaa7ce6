"""Text without secrets: a line in which anything looks like one is struck out as a whole.

Cutting out only the value would need to know where it ends; a quote, a bracket or an '@' in a password
would leave the rest of it to be read. A harmless line too many is the better mistake.
"""

import re

REDACTED = "***"

_NAME = (
    r"[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credential|authorization"
    r"|(?:api|access|private|account)[_-]?key)[\w.-]*"
)
# A name and then `=`, `:`, or the comma of a call; also a name given as an option, or a quoted name.
_NAMED = re.compile(rf"(?i){_NAME}(?:[\"'\])\s]*[:=]|[\"']\s*,)|(?<!\w)--?{_NAME}\s+\S")
_SHAPES = (
    re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.+/=~-]{4,}"),
    re.compile(r"(?:AKIA|ASIA)[0-9A-Z]{8,}"),
    re.compile(
        r"(?:gh[pousr]|github_pat)_\w{6,}|glpat-[\w-]{8,}|\bsk-[\w-]{16,}|\bhf_\w{16,}|\bxox[a-z]-\w+"
    ),
    re.compile(r"://\S*@"),
    re.compile(r"[^\s:@/]+:[^\s@]+@\w"),  # user:password@host without a scheme
)
_PEM_BEGIN, _PEM_END = "-----BEGIN ", "-----END "
_NEXT_FILE = "diff --git "
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


def redact(text: str) -> str:
    """Return `text` with `***` for each line that holds a secret, or for each line of a longer one."""
    lines: list[str] = []
    until: re.Pattern[str] | None = None  # what ends the secret that a line above began
    for line in text.split("\n"):
        inside = until is not None and not line.startswith(_NEXT_FILE)
        if not inside or (until is not None and until.search(line)):
            until = _open_end(line)  # what ends one secret may begin the next
        lines.append(REDACTED if inside or _is_secret(line) else line)
    return "\n".join(lines)


def _is_secret(line: str) -> bool:
    pem = _PEM_BEGIN in line or _PEM_END in line
    return pem or bool(_NAMED.search(line)) or any(shape.search(line) for shape in _SHAPES)


def _open_end(line: str) -> re.Pattern[str] | None:
    # What ends a secret that goes on in the next lines; None where it ends in this one.
    if _PEM_BEGIN in line and _PEM_END not in line:
        return re.compile(_PEM_END)
    if not _NAMED.search(line):
        return None
    code = re.sub(r"\s+#.*$", "", line).rstrip()
    for quotes in ('"""', "'''"):
        if code.count(quotes) % 2:
            return re.compile(quotes)
    last = code[-1:]
    if last in _CLOSERS:
        opener, closer = re.escape(last), re.escape(_CLOSERS[last])
        return re.compile(rf"^[+\- ]?\s*{closer}|^[^{opener}]*{closer}[,;\s]*$")
    if last in set("=:|>\\,"):
        return re.compile("")  # the next line ends it, whatever it holds
    return None
