#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in mpiq's place behind gdb's mpi commands: a client of the wire that asks what a test wants.

gdb starts it as it starts mpiq: wire_client.py SUBCOMMAND [OPTION]... --wire IN,OUT... [PID].  WIRE_REQUESTS
is a file of requests, one a line; "{3}" in one is the first word of the answer to request 3 (from 0).
Prints JSON: its arguments, and the replies of each wire.  WIRE_BEHAVIOUR makes it misbehave.
"""
import json
import os
import signal
import sys
import time


def wires_of(arguments):
    return [tuple(map(int, value.split(","))) for option, value in zip(arguments, arguments[1:])
            if option == "--wire"]


def converse(wire, requests):
    """The replies to the requests, each without its line end."""
    said = []
    words = []
    with os.fdopen(wire[0], "rb") as replies, os.fdopen(wire[1], "wb", buffering=0) as out:
        for request in requests:
            for number, word in enumerate(words):
                request = request.replace("{%d}" % number, word)
            out.write(request.encode() + b"\n")
            reply = replies.readline().decode().rstrip("\n")
            said.append(reply)
            words.append((reply.split(" ") + ["", ""])[1])
    return said


def misbehave(behaviour, wire):
    """What a broken or slow mpiq might do; says first who it is, so that a test can find it."""
    with open(os.environ["WIRE_PID_FILE"], "w", encoding="ascii") as file:
        file.write("%d\n" % os.getpid())
    if behaviour == "die":
        os.write(wire[1], b"hello 1\n")
        os.read(wire[0], 100)
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "hang":
        time.sleep(600)
    if behaviour == "garbage":
        os.write(wire[1], b"\xff\xfe\n")
        time.sleep(600)
    if behaviour == "heir": # ends, but something that it started holds its output open
        if os.fork() == 0:
            time.sleep(600)
        print("the answer", flush=True)
        os._exit(0)
    if behaviour == "nothing":
        print("mpiq: process 1 is no MPI process", file=sys.stderr)
        sys.exit(3)


def main():
    arguments = sys.argv[1:]
    wires = wires_of(arguments)
    if os.environ.get("WIRE_BEHAVIOUR"):
        misbehave(os.environ["WIRE_BEHAVIOUR"], wires[0])
        return
    with open(os.environ["WIRE_REQUESTS"], encoding="utf-8") as file:
        requests = file.read().splitlines()
    print(json.dumps({"arguments": arguments, "wires": [converse(wire, requests) for wire in wires]}))


if __name__ == "__main__":
    main()
