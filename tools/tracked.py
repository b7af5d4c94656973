"""Whether a command changes files of the repository: ``python -m tools.tracked COMMAND``.

The command runs in a shell. If it ends well, but a tracked file is another one than before, the files are named and the
exit code is 1. Where there is no git checkout, the command runs without this check.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NUMBER = re.compile(rb"-?\d+\.\d+(?:e[+-]?\d+)?")


def digests(root: Path = ROOT) -> dict[str, str]:
    """A digest of each tracked file; empty for one that is missing."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        return {}
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        found[name] = digest_of(path) if path.is_file() else ""
    return found


def digest_of(path: Path) -> str:
    """A digest of a file; that of a figure with numbers is a digest of its numbers to nine digits.

    Another processor may compute another last digit, and then draws a line elsewhere by less than a pixel.
    """
    content = path.read_bytes()
    numbers = path.with_suffix(".json")
    if path.parent.name == "figures" and numbers.is_file():
        if path != numbers:
            return f"drawn from {numbers.name}"
        content = NUMBER.sub(lambda number: b"%.9g" % float(number[0]), content)
    return hashlib.sha256(content).hexdigest()


def run(command: str, root: Path = ROOT) -> int:
    """Run a command, and return its exit code, or 1 if it has changed tracked files."""
    before = digests(root)
    code = subprocess.run(command, shell=True, cwd=root).returncode
    after = digests(root)
    changed = sorted(name for name in before if after.get(name, "") != before[name])
    if changed:
        print(
            f"The command changed {len(changed)} tracked files. Look at git diff, and commit them or "
            f"correct what wrote them: {', '.join(changed)}",
            file=sys.stderr,
        )
    return code or int(bool(changed))


if __name__ == "__main__":
    sys.exit(run(" ".join(sys.argv[1:])))
