# SPDX-License-Identifier: BSD-3-Clause
"""Running mpiq, and reading what it says."""
import dataclasses
import json
import pathlib
import subprocess

from support import schema
from support.conditions import Unchanged, run, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# mpiq answers sooner than this.
SECONDS = 120

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
        done = run([self.path, *map(str, arguments)], SECONDS, **options)
        return Answer(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments):
        return self(*arguments, "--json").json

    def until(self, right, *arguments, never=()):
        """Looks until right(answer): that JSON answer.  No verdict may be one of `never`.  A deadlock remains what it is:
        one of which the same is said again and again is not waited for."""
        answers, unchanged = [], Unchanged()

        def is_right():
            answers[:] = [self("--json", *arguments)]
            if not answers[0].out:
                return False
            value = answers[0].json
            assert value["verdict"] not in never, answers[0].out
            if right(answers[0]):
                return True
            assert value["verdict"] != "deadlock" or not unchanged.stays(without_times(value)), f"it stays so:\n{answers[0].out}"
            return False

        wait_until(is_right, lambda: answers, every=0.1)
        return answers[0]

    def of_hung(self, *arguments):
        """The JSON answer about a job that hangs and stands still.  A rank that gets no processor between two looks is not
        seen to poll: then nothing is proven, and another look proves it."""
        return self.until(lambda answer: answer.json["verdict"] == "deadlock", *arguments, never=("running", "stalled", "finished"))

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
        return {key: without_times(item) for key, item in value.items() if key not in ("since", "text", "ago", "took")}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value
