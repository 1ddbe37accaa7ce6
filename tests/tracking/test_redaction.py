import pytest

from candlecast.tracking.redaction import redact


@pytest.mark.parametrize(
    "line",
    [
        "MY_TOKEN: str = 'qq'",
        "os.environ['MY_TOKEN']='qq'",
        'os.environ.setdefault("MY_TOKEN", "qq")',
        "Authorization: Bearer abcdef",
        "curl -H 'x: Bearer abcdef'",
        "pwd=qq",
        "train --password qq",
        '+password: "q q"',
        "API_KEY=qq, next",
        "aws_secret_access_key = qq",
        "id = 'AKIAIOSFODNN7EXAMPLE'",
        "see ghp_0123456789abcdefABCDEF",
        "https://me:hunter2@example.org/x",
        "https://me:a/b@c@example.org/x",
        "mysql://me:a#b?c@example.org/x",
        "user:qq@host:5000",
        "Max retries exceeded with url: /api?token=qq",
    ],
)
def test_a_line_with_a_secret_is_struck_out_as_a_whole(line: str) -> None:
    assert redact(f"before\n{line}\nafter") == "before\n***\nafter"


@pytest.mark.parametrize(
    ("secret", "lines"),
    [
        ("password = (\n    'qq'\n    'rr'\n)", 4),
        ("password = (\n    f(1)\n    'rr')", 3),
        ("+password = (  # of the store\n+    'qq'\n+)", 3),
        ("password = \\\n    'qq'", 2),
        ("password:\n  qq", 2),
        ('token = """\nqq\nrr\n"""', 4),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----", 4),
        ("+key = '''-----BEGIN PRIVATE KEY-----\n+abc\n+-----END PRIVATE KEY-----'''", 3),
    ],
)
def test_a_secret_of_several_lines_is_struck_out_to_its_end(secret: str, lines: int) -> None:
    assert redact(f"before\n{secret}\nafter") == "\n".join(["before", *["***"] * lines, "after"])


def test_a_secret_without_an_end_does_not_hide_the_next_file_of_a_diff() -> None:
    text = "+-----BEGIN PRIVATE KEY-----\n+abc\ndiff --git a/x b/x\n+width = 2"
    assert redact(text) == "***\n***\ndiff --git a/x b/x\n+width = 2"


@pytest.mark.parametrize(
    "line", ["seed: 17", "+width = 2", "http://127.0.0.1:5000 does not answer", "@property"]
)
def test_other_lines_stay(line: str) -> None:
    assert redact(line) == line
