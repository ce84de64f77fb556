# SPDX-License-Identifier: BSD-3-Clause
"""Running mpiq, and reading what it says."""
import dataclasses
import json
import pathlib
import subprocess

from support import schema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# mpiq answers sooner than this, on a busy machine too.
SECONDS = 180

EXIT_STATUS = {"deadlock": 1, "stalled": 4, "running": 0, "finished": 0, "unknown": 3}


@dataclasses.dataclass
class Answer:
    status: int
    out: str
    err: str

    @property
    def json(self):
        """What it said as JSON, which has to fit the published schema."""
        value = json.loads(self.out)
        assert schema.misfit(value) == ""
        return value


class Mpiq:
    """The mpiq program."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments, **options):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True,
                              timeout=SECONDS, check=False, stdin=subprocess.DEVNULL, **options)
        return Answer(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments):
        return self(*arguments, "--json").json

    def start(self, *arguments, **options):
        """Leaves it running: its Popen."""
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
        return subprocess.Popen([self.path, *map(str, arguments)], stdin=subprocess.DEVNULL, **options)


def line_of(source, text):
    """Number of the one line of a source file that contains text."""
    numbers = [number for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1)
               if text in line]
    assert len(numbers) == 1, f"{text!r} is in lines {numbers} of {source}"
    return numbers[0]


def without_times(value):
    """The same without what passes by: how long something has lasted."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in ("since", "text")}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value
