# SPDX-License-Identifier: BSD-3-Clause
"""Run by gdb (serve_gdb): the wire for the inferior on descriptors 3 and 4, one request at a time."""

import os
import sys

import gdb

sys.path.insert(0, os.environ["MPIQ_GDB_PLUGIN"])

from mpiq_gdb import process, wire  # pylint: disable=wrong-import-position


def serve():
    target = process.Process(gdb.selected_inferior())
    target.direct = 0  # every byte goes through gdb
    server = wire.Server(target)
    with open(3, "rb") as requests, open(4, "wb") as replies:
        for line in requests:
            replies.write(server.reply(line.decode("ascii").rstrip("\n")).encode() + b"\n")
            replies.flush()
            if server.ended:
                return


serve()
