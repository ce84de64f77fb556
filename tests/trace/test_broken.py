# SPDX-License-Identifier: BSD-3-Clause
"""Archives that are cut, changed or made up in bad faith cost at most the reader, and that only if libotf2 fails."""
import os
import random
import re
import shutil

import pytest

from archive import WORLD, Script, real

# Runs of mpiq that one test may take; more where MPIQ_TRACE_RUNS says so.
RUNS = int(os.environ.get("MPIQ_TRACE_RUNS", "60"))


def every_kind(tmp_path):
    """An archive with every kind of record that is read."""
    script = Script(3, ["comm 2 pair 0,1", "inter 3 inter 0,1 2"])
    for rank in range(3):
        script.at(rank, 0.01, "create 2")
        script.collective(rank, 0.02, 0.03, "MPI_Barrier", "barrier")
        script.call(rank, 0.04, 0.05, "MPI_Ibarrier", "nbc-request 1")
        script.call(rank, 0.06, 0.07, "MPI_Wait", f"nbc-done barrier {WORLD} - 1")
        script.collective(rank, 0.08, 0.09, "MPI_Bcast", "bcast", 1)
    script.send(0, 0.1, 0.11, 1, 7)
    script.recv(1, 0.1, 0.12, 0, 7)
    script.call(1, 0.13, 0.14, "MPI_Irecv", "irecv-request 9", "irecv-request 10")
    script.call(0, 0.2, 0.21, "MPI_Isend", "isend 1 2 8 100 5")
    script.call(0, 0.22, 0.23, "MPI_Wait", "isend-done 5")
    script.call(1, 0.22, 0.24, "MPI_Wait", "irecv 0 2 8 100 9", "cancelled 10")
    script.send(2, 0.3, 0.31, 0, 9, comm=3)
    script.recv(0, 0.3, 0.32, 0, 9, comm=3)
    script.at(1, 0.4, "destroy 2")
    script.finish(1)
    return script.write(tmp_path / "good")


def files(anchor):
    return [anchor, anchor.with_suffix(".def"), *sorted(anchor.with_suffix("").iterdir())]


def copy(anchor, path):
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(anchor.parent, path)
    for file in path.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    return path / anchor.name


def check_good(mpiq, anchor):
    """What is changed afterwards can be read, so that it is the reader that is tried."""
    for command in ("report", "late"):
        assert mpiq(command, anchor).status == 0


def check(mpiq, anchor, what):
    for command in ("report", "late"):
        answer = mpiq(command, anchor)
        text = answer.out + answer.err
        assert answer.status in (0, 1, 3, 4), (what, text)
        assert not re.search(r"crashed|timed out|malformed|no JSON|without libotf2", text), (what, text)
        if answer.status == 3:
            assert answer.err or "unknown" in answer.out, what


def test_cut(mpiq, tmp_path):
    """Every file, cut at every so many bytes: no less than at every tenth with MPIQ_TRACE_RUNS=1000."""
    good = every_kind(tmp_path)
    check_good(mpiq, good)
    step = max(10, sum(file.stat().st_size for file in files(good)) // RUNS)
    for number, file in enumerate(files(good)):
        size = file.stat().st_size
        for length in range(0, size, step):
            bad = copy(good, tmp_path / "bad")
            with open(files(bad)[number], "r+b") as stream:
                stream.truncate(length)
            check(mpiq, bad, f"{file.name} cut at {length}")


def flip(anchor, source, dice):
    """Changes a few bits of one file."""
    path = dice.choice(files(anchor))
    content = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 1, 1, 2, 8))):
        at = dice.randrange(len(content))
        content[at] ^= 1 << dice.randrange(8)
    path.write_bytes(content)
    return f"{source}: {path.name}"


@pytest.mark.parametrize("seed", range(2))
def test_bits_flipped(mpiq, tmp_path, seed):
    good = every_kind(tmp_path)
    check_good(mpiq, good)
    dice = random.Random(seed)
    for run in range(RUNS // 2):
        bad = copy(good, tmp_path / "bad")
        check(mpiq, bad, f"seed {seed}, run {run}, " + flip(bad, "made", dice))


@pytest.mark.parametrize("name", ["collkinds", "requests", "rma", "threads_pthread", "intercomm"])
def test_real_bits_flipped(mpiq, tmp_path, name):
    good = real(name)
    check_good(mpiq, good)
    dice = random.Random(name)
    for run in range(RUNS // 5):
        bad = copy(good, tmp_path / "bad")
        check(mpiq, bad, f"run {run}, " + flip(bad, name, dice))
