# SPDX-License-Identifier: BSD-3-Clause
"""The program's own ledger against what our DLL reads of the process from outside, after every single call."""

import json
import os

import pytest

from support import conditions
from support.built import built
from support.conditions import communicate

FIELDS = ("collective", "number", "count", "datatype", "op", "root")


def as_told(look, handle):
    """What a look of the DLL says of a communicator, in the words of the ledger."""
    found = [comm for comm in look["communicators"] if comm["handle"] == handle]
    assert len(found) == 1, f"{len(found)} communicators have the handle {handle}"
    comm = found[0]
    return {"handle": handle, "collectives": comm["collectives"], "ordered": comm["ordered"],
            "recent": [{field: call[field] for field in FIELDS} for call in comm["recent"]],
            "process_calls": [call["collective"] for call in look["process_calls"]]}


class Reader:
    """A program that stops after its calls, on one rank, and a debugger that looks at it there."""

    def __init__(self, library, directory, rank):
        self.library = library
        self.directory = directory
        self.rank = rank
        self.looks = [] # of the last run, whole
        for name in ("said", "go"):
            os.mkfifo(directory / name)

    def run(self, ranks, program, stops, *arguments, dll=None):
        """[(what the ledger says, what the DLL says)], one for each stop."""
        expected = self.directory / "expected"
        # Held open, so that neither side's end ends the other.
        said = os.open(self.directory / "said", os.O_RDWR)
        go = os.open(self.directory / "go", os.O_RDWR)
        job = self.library.start(ranks, program, *arguments, environment={
            "MPIQ_READER": str(self.directory), "MPIQ_READER_RANK": str(self.rank)})
        try:
            pid = b""
            while not pid.endswith(b"\n"): # not a byte more: the next line is the shell's
                pid += os.read(said, 1)
            take = f"IFS= read -r line < {self.directory}/said && printf '%s\\n' \"$line\" >> {expected}"
            conditions.run(["sh", "-c", take], check=True, text=False)
            command = [built("tests/mqs/mqs_client"), "--looks", str(stops), "--between",
                       f"printf x > {self.directory}/go && {take}",
                       dll or built("mqs/libompi_dbg_msgq.so"), built("tests/mqs/mqs_serve_live"), int(pid)]
            done = conditions.run(list(map(str, command)), seconds=300)
            assert done.returncode == 0, done.stderr
            os.write(go, b"x")
            output = communicate(job)[0]
            assert job.returncode == 0 and " 0 failed" in output, output
        finally:
            if job.poll() is None:
                job.terminate() # and its ranks with it
            job.wait()
            os.close(said)
            os.close(go)
        told = [json.loads(line) for line in expected.read_text().splitlines()]
        self.looks = json.loads(done.stdout)["looks"]
        assert len(told) == len(self.looks) == stops
        return [(line, as_told(look, line["handle"])) for line, look in zip(told, self.looks)]


def stops_of(library, ranks, program):
    done = library.run(ranks, program)
    assert done.returncode == 0, done.stdout
    return int(done.stdout.split("stops: ")[1].split()[0])


def compare(library, directory, source, rank):
    """What the program called is what the DLL reads, and the library's own tables are all that it needs."""
    program = library.build(source)
    stops = stops_of(library, 2, program)
    assert stops > 20
    reader = Reader(library, directory, rank)
    for at, (told, read) in enumerate(reader.run(2, program, stops)):
        assert read == told, f"stop {at + 1} of {stops}"
    assert [look["types_asked"] for look in reader.looks] == [0] * stops, "debug information was asked for"


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("source", ["every_collective.c", "constructors.c"])
def test_the_dll_reads_what_was_called(library, tmp_path, source, rank):
    compare(library, tmp_path, source, rank)
