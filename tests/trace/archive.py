# SPDX-License-Identifier: BSD-3-Clause
"""OTF2 archives: written from a script (make_trace.c), and read as otf2-print shows them."""
import collections
import dataclasses
import os
import pathlib
import re
import shutil

import pytest

from support import built
from support.conditions import run

WORLD = 0


class Script:
    """Statements of make_trace, rank by rank; times are in seconds."""

    def __init__(self, ranks, lines=()):
        members = ",".join(map(str, range(ranks)))
        self.ranks = ranks
        self.head = [f"ranks {ranks}", f"comm {WORLD} MPI_COMM_WORLD {members}", "comm 1 MPI_COMM_SELF self",
                     "region main solver.c 10", *lines]
        self.events = []
        for rank in range(ranks):
            self.at(rank, 0, "program-begin solver", "enter main")
            self.call(rank, 0.001, 0.002, "MPI_Init")

    def at(self, rank, seconds, *events):
        for event in events:
            self.events.append((rank, round(seconds * 1e9) + 1000000, event))

    def call(self, rank, begin, end, name, *events):
        """An MPI call (or a region of the program's own) with events in it, at its end."""
        self.at(rank, begin, f"enter {name}")
        self.at(rank, end, *events, f"leave {name}")

    def send(self, rank, begin, end, peer, tag, comm=WORLD, name="MPI_Send", size=4):
        self.at(rank, begin, f"enter {name}", f"send {peer} {comm} {tag} {size}")
        self.at(rank, end, f"leave {name}")

    def recv(self, rank, begin, end, peer, tag, comm=WORLD, size=4):
        self.call(rank, begin, end, "MPI_Recv", f"recv {peer} {comm} {tag} {size}")

    def collective(self, rank, begin, end, name, operation, root="-", comm=WORLD):
        self.at(rank, begin, f"enter {name}", "begin")
        self.at(rank, end, f"end {operation} {comm} {root}", f"leave {name}")

    def finish(self, seconds, ranks=None):
        for rank in range(self.ranks) if ranks is None else ranks:
            self.at(rank, seconds, "enter MPI_Finalize", "begin", f"end destroy {WORLD} -", "leave MPI_Finalize",
                    "leave main", "program-end")

    def write(self, path):
        """The archive's anchor file."""
        order = sorted(range(len(self.events)), key=lambda i: (self.events[i][0], self.events[i][1], i))
        lines = self.head + ["%d %d %s" % self.events[i] for i in order]
        done = run([built.built("tests/trace/make_trace"), path], input="\n".join(lines) + "\n")
        assert done.returncode == 0, done.stderr
        return pathlib.Path(path) / "traces.otf2"


@dataclasses.dataclass
class Event:
    kind: str
    location: int
    time: int
    text: str

    def number(self, name):
        found = re.search(name + r": (\d+)", self.text)
        return int(found[1]) if found else None

    @property
    def comm(self):
        return int(re.search(r'Communicator: "[^"]*" <(\d+)>', self.text)[1])

    @property
    def name(self):
        return re.search(r'"([^"]*)"', self.text)[1]


def _print(anchor, *options):
    program = shutil.which("otf2-print")
    if not program:
        pytest.skip("otf2-print (otf2-tools) is not installed")
    done = run([program, *options, anchor])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def events(anchor):
    """All events, merged by time, as otf2-print shows them."""
    found = []
    for line in _print(anchor):
        parts = re.match(r"([A-Z_]+) +(\d+) +(\d+)  ?(.*)$", line)
        if parts:
            found.append(Event(parts[1], int(parts[2]), int(parts[3]), parts[4]))
    return found


def definitions(anchor):
    return _print(anchor, "-G")


def resolution(anchor):
    """Ticks a second."""
    return int(re.search(r"Ticks per Seconds: (\d+)", "\n".join(definitions(anchor)))[1])


def communicators(anchor):
    """World ranks of each communicator; a pair of lists for an intercommunicator, None for MPI_COMM_SELF."""
    groups, found = {}, {}
    for line in definitions(anchor):
        group = re.match(r'GROUP +(\d+) .*Type: (COMM_GROUP|COMM_SELF), Paradigm: "MPI".*Members(?:: (.*))?$', line)
        comm = re.match(r'COMM +(\d+) .*Group: (?:"[^"]*" )?<(\d+)>', line)
        inter = re.match(r'INTER_COMM +(\d+) .*Group A: "[^"]*" <(\d+)>, Group B: "[^"]*" <(\d+)>', line)
        if group:
            groups[int(group[1])] = None if group[2] == "COMM_SELF" else [
                int(n) for n in re.findall(r"(\d+) \(", group[3] or "")]
        elif comm and int(comm[2]) in groups:
            found[int(comm[1])] = groups[int(comm[2])]
        elif inter:
            found[int(inter[1])] = (groups[int(inter[2])], groups[int(inter[3])])
    return found


def neighbors(anchor):
    """Of each MPI communicator with one Cartesian topology: the neighbours of each of its ranks."""
    dimensions, shapes, places, found = {}, {}, collections.defaultdict(dict), {}
    for line in definitions(anchor):
        dimension = re.match(r"CART_DIMENSION +(\d+) .*Size: (\d+), Periodicity: (TRUE|FALSE)", line)
        topology = re.match(r'CART_TOPOLOGY +(\d+) .*Communicator: "[^"]*" <(\d+)>, \d+ Dimensions?: \((.*)\)', line)
        place = re.match(r'CART_COORDINATE .*Topology: "[^"]*" <(\d+)>, Rank: (\d+) .*Coordinates?: \(([\d, ]*)\)', line)
        if dimension:
            dimensions[int(dimension[1])] = (int(dimension[2]), dimension[3] == "TRUE")
        elif topology:
            shapes[int(topology[1])] = (int(topology[2]), [int(n) for n in re.findall(r"<(\d+)>", topology[3])])
        elif place:
            places[int(place[1])][tuple(int(n) for n in place[3].split(","))] = int(place[2])
    for topology, (comm, axes) in shapes.items():
        if comm not in communicators(anchor):
            continue
        near = found[comm] = collections.defaultdict(set)
        for at, rank in places[topology].items():
            for axis, number in enumerate(axes):
                size, periodic = dimensions[number]
                for step in (-1, 1):
                    other = list(at)
                    other[axis] = (other[axis] + step) % size if periodic else other[axis] + step
                    if tuple(other) in places[topology]:
                        near[rank].add(places[topology][tuple(other)])
    return found


def ranks(anchor):
    """The world rank of each location."""
    of = {}
    process, threads = {}, []
    for line in definitions(anchor):
        location = re.match(r'LOCATION +(\d+) .*Group: "[^"]*" <(\d+)>', line)
        group = re.match(r'GROUP +\d+ .*Type: COMM_LOCATIONS, Paradigm: "MPI".*Members: (.*)$', line)
        if location:
            threads.append((int(location[1]), int(location[2])))
        elif group:
            of = {int(n): i for i, n in enumerate(re.findall(r"<(\d+)>", group[1]))}
    for location, group in threads:
        if location in of:
            process[group] = of[location]
    return {location: process[group] for location, group in threads if group in process}


def peer(comms, comm, rank, local):
    """World rank of a local one, as `rank` names it."""
    members = comms[comm]
    if members is None:
        return rank
    if isinstance(members, tuple):
        return members[1 if rank in members[0] else 0][local]
    return members[local]


def real(name):
    """A real archive; skipped where MPIQ_TRACES names no directory with them."""
    path = pathlib.Path(os.environ.get("MPIQ_TRACES", "/nonexistent")) / name / "traces.otf2"
    if not path.exists():
        pytest.skip("MPIQ_TRACES names no directory of real archives")
    return path
