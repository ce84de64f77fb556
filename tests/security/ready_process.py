# SPDX-License-Identifier: BSD-3-Clause
"""A process that says "ready" on its standard output once it may be looked at."""
import contextlib
import subprocess


@contextlib.contextmanager
def ready_process(*command):
    """Its pid, for as long as the context lasts."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
    finally:
        process.kill()
        process.wait()
