"""Run ragnb in a terminal.

``python -m ragnb --help`` lists the commands. Exit codes: 0; 1 if an audit finds something, or if
``compare --fail-if-worse`` finds a loss; 2 for input that cannot be used, with one line that says
why; 3 if ``compare --fail-if-worse`` cannot decide; 130 after Ctrl-C; 141 if nobody reads on.
"""

import os
import sys
import warnings

from ragnb.cli import command_line, progress
from ragnb.errors import RagnbError
from ragnb.markup import spelled


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            arguments = command_line().parse_args(argv or ["--help"])
            outcome = arguments.command(arguments)
        progress()
        text, code = outcome if isinstance(outcome, tuple) else (outcome, 0)
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
        return code
    except BrokenPipeError:  # without the next line Python complains when it closes the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        progress()
        return 130
    except (RagnbError, OSError) as error:
        if "--debug" in argv:
            raise
        _say(error)
        return 2


def _say(message: object, *_: object, **__: object) -> None:
    progress()
    print("ragnb:", " ".join(spelled(message).split()), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
