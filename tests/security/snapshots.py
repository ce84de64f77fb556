# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots as a stranger could mail them."""
import json
import subprocess

RANK = {"name": [7, 0], "world_size": 1, "pid": 4711, "host": "n1", "executable": "/bin/solver", "namespace": "7",
        "state": "S"}


def zstd(text):
    return subprocess.run(["zstd", "-q", "-c"], input=text.encode(), capture_output=True, check=True).stdout


def snapshot(path, *states):
    """A file of these states: (look, state), or the state alone of look 1; JSON texts, or what becomes one."""
    lines = []
    for state in states:
        look, state = state if isinstance(state, tuple) else (1, state)
        lines.append(f"{look} {state if isinstance(state, str) else json.dumps(state)}\n")
    path.write_bytes(b"mpiq snapshot 1\n" + zstd("".join(lines)))
    return path
