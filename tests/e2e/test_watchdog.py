# SPDX-License-Identifier: BSD-3-Clause
"""examples/watchdog.c: libmpiq in a program of somebody else's."""
from support.built import built
from support.conditions import run


def test_it_says_why_a_job_hangs_and_ends(hung):
    done = run([built("examples/watchdog"), str(hung.pid), "1"])
    assert done.returncode == 1, done
    assert done.stdout.startswith("deadlock") and "never entered the MPI_Bcast" in done.stdout


def test_it_ends_with_the_job():
    done = run([built("examples/watchdog"), "999999999"])
    assert done.returncode == 3 and done.stderr.startswith("watchdog: ")
