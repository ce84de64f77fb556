# SPDX-License-Identifier: BSD-3-Clause
"""examples/watchdog.c: libmpiq in a program of somebody else's."""
import subprocess

from support.built import built


def test_it_says_why_a_job_hangs_and_ends(hung):
    done = subprocess.run([built("examples/watchdog"), str(hung.pid), "1"], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 1, done
    assert done.stdout.startswith("deadlock") and "never entered the MPI_Bcast" in done.stdout


def test_it_ends_with_the_job():
    done = subprocess.run([built("examples/watchdog"), "999999999"], check=False, text=True, stderr=subprocess.PIPE,
                          timeout=60)
    assert done.returncode == 3 and done.stderr.startswith("watchdog: ")
