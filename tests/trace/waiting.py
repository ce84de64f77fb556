# SPDX-License-Identifier: BSD-3-Clause
"""Messages, collectives and wait states of an archive, computed anew from what otf2-print shows: all of it in memory,
by other means than mpiq's, to compare the two."""
import collections
import dataclasses
import re

import archive

# What one waits for in a collective, by otf2-print's word.
FROM_ROOT = {"BCAST", "SCATTER", "SCATTERV"}
TO_ROOT = {"REDUCE", "GATHER", "GATHERV"}
LOWER = {"SCAN", "EXSCAN"}
TESTS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status", "MPI_Iprobe"}


@dataclasses.dataclass
class Call:
    name: str
    rank: int
    enter: int
    leave: int = 0
    until: int = 0
    kind: str = ""

    def consider(self, kind, until):
        """What it waited for was there at `until`: of several the last one counts."""
        if self.name not in TESTS and until > max(self.enter, self.until):
            self.kind, self.until = kind, until

    @property
    def waited(self):
        return max(0, min(self.until, self.leave) - self.enter) if self.until else 0


@dataclasses.dataclass
class Part:
    posted: Call
    completed: Call = None
    event: archive.Event = None
    envelope: tuple = ()
    time: int = 0
    cancelled: bool = False
    blocking: bool = True


class Trace:
    def __init__(self, anchor):
        self.comms = archive.communicators(anchor)
        self.sends, self.receives = collections.defaultdict(list), collections.defaultdict(list)
        self.collectives = collections.defaultdict(list)
        self.fences = collections.defaultdict(list)
        self.calls = []
        self.neighbor_calls = collections.defaultdict(list)
        self.neighbors = archive.neighbors(anchor)
        self.resolution = archive.resolution(anchor)
        ranks = archive.ranks(anchor)
        by_location = collections.defaultdict(list)
        for event in archive.events(anchor):
            by_location[event.location].append(event)
        for location, events in by_location.items():
            self._location(ranks[location], events)
        self._match()
        self._collect()

    def _location(self, rank, events):
        depth, call, mpi_depth, collective = 0, None, 0, None
        sends, receives, started = {}, {}, {}
        for event in events:
            request = event.number("Request")
            if event.kind == "ENTER":
                depth += 1
                if call is None and event.name.startswith("MPI_"):
                    call, mpi_depth = Call(event.name, rank, event.time), depth
                    self.calls.append(call)
            elif event.kind == "LEAVE":
                if call is not None and depth == mpi_depth:
                    if call.name.startswith("MPI_Neighbor_"):
                        self.neighbor_calls[rank].append(call)
                    call.leave, call = event.time, None
                depth -= 1
            elif event.kind in ("MPI_SEND", "MPI_ISEND"):
                part = Part(call, event=event, time=event.time, blocking=event.kind == "MPI_SEND")
                to = archive.peer(self.comms, event.comm, rank, event.number("Receiver"))
                part.envelope = (event.comm, rank, to, event.number("Tag"))
                part.completed = call if part.blocking else None
                self.sends[rank].append(part)
                if not part.blocking:
                    sends[request] = part
            elif event.kind == "MPI_ISEND_COMPLETE":
                if request in sends:
                    sends.pop(request).completed = call
            elif event.kind == "MPI_IRECV_REQUEST":
                receives[request] = Part(call)
                self.receives[rank].append(receives[request])
            elif event.kind in ("MPI_RECV", "MPI_IRECV"):
                part = receives.pop(request, None) if event.kind == "MPI_IRECV" else None
                if part is None:
                    part = Part(call)
                    self.receives[rank].append(part)
                part.completed, part.time = call, event.time
                sender = archive.peer(self.comms, event.comm, rank, event.number("Sender"))
                part.envelope = (event.comm, sender, rank, event.number("Tag"))
            elif event.kind == "MPI_REQUEST_CANCELLED":
                for open_parts in (sends, receives):
                    if request in open_parts:
                        open_parts.pop(request).cancelled = True
            elif event.kind == "RMA_COLLECTIVE_BEGIN":
                collective = Part(call)
            elif event.kind == "RMA_COLLECTIVE_END":
                collective.completed, collective.event = call, event
                window = int(re.search(r'Window: "[^"]*" <(\d+)>', event.text)[1])
                if "Operation: BARRIER" in event.text:
                    self.fences[window, rank].append(collective)
            elif event.kind == "MPI_COLLECTIVE_BEGIN":
                collective = Part(call)
                self.collectives[rank].append(collective)
            elif event.kind == "MPI_COLLECTIVE_END":
                collective.completed, collective.event = call, event
            elif event.kind == "NON_BLOCKING_COLLECTIVE_REQUEST":
                started[request] = Part(call, blocking=False)
                self.collectives[rank].append(started[request])
            elif event.kind == "NON_BLOCKING_COLLECTIVE_COMPLETE":
                part = started.pop(request)
                part.completed, part.event = call, event

    def _match(self):
        sent, received = collections.defaultdict(list), collections.defaultdict(list)
        for sides, by in ((self.sends, sent), (self.receives, received)):
            for parts in sides.values():
                for part in parts:
                    if part.envelope and not part.cancelled:
                        by[part.envelope].append(part)
        self.messages = self.unreceived = 0
        for envelope, sends in sent.items():
            matches = list(zip(sends, received[envelope]))
            self.messages += len(matches)
            self.unreceived += len(sends) - len(matches)
            for send, receive in matches:
                if receive.time <= send.time:
                    continue
                receive.completed.consider("late_sender", send.posted.enter)
                call = send.completed
                if call is not None and envelope[1] != envelope[2] and receive.posted.enter < call.leave:
                    call.consider("late_receiver", receive.posted.enter)

    def _collect(self):
        instances = collections.defaultdict(list)
        for rank, parts in self.collectives.items():
            numbers = collections.Counter()
            for part in parts:
                if part.event is None or part.posted.name in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"):
                    continue
                comm = part.event.comm
                numbers[comm] += 1
                instances[comm, numbers[comm]].append((rank, part))
        self.collective_count = 0
        for (comm, _), parts in instances.items():
            members = self.comms[comm]
            size = 1 if members is None else sum(map(len, members)) if isinstance(members, tuple) else len(members)
            if len(parts) == size > 1 and len({part.posted.name for _, part in parts}) == 1:
                self.collective_count += 1
                self._wait(comm, members, parts)

        windows = {window for window, _ in self.fences}
        for window in windows:
            for parts in zip(*(parts for (number, _), parts in self.fences.items() if number == window)):
                for part in parts:
                    part.completed.consider("wait_at_fence", max(other.posted.enter for other in parts))

        for comm, near in self.neighbors.items() if len(self.neighbors) == 1 else ():
            members = self.comms[comm]
            for local, rank in enumerate(members):
                for number, call in enumerate(self.neighbor_calls[rank]):
                    others = [self.neighbor_calls[members[other]] for other in near[local] if other != local]
                    if others and all(number < len(self.neighbor_calls[member]) for member in members):
                        call.consider("wait_for_neighbors", max(calls[number].enter for calls in others))

    def _wait(self, comm, members, parts):
        word = re.search(r"Operation: (\w+)", parts[0][1].event.text)[1]
        inter = isinstance(members, tuple)
        roots = [part for rank, part in parts
                 if (re.search(r"Root: (?:SELF|ROOT_SELF)", part.event.text) if inter
                     else part.event.number("Root") is not None and members[part.event.number("Root")] == rank)]
        for rank, part in parts:
            def others(condition):
                return [(other.posted.enter, other) for number, other in parts if other is not part and condition(number)]
            far = (lambda number: (number in members[0]) != (rank in members[0])) if inter else (lambda number: True)
            if word in FROM_ROOT:
                late = [(root.posted.enter, root) for root in roots if root is not part]
                if inter and part.event.number("Root") is None:
                    late = []
            elif word in TO_ROOT:
                late = others(far) if part in roots else []
            elif word in LOWER:
                late = others(lambda number: members.index(number) < members.index(rank))
            else:
                late = others(far)
            if not late:
                continue
            kind = ("wait_for_nonblocking_collective" if not part.blocking else
                    "late_broadcast" if word in FROM_ROOT else "early_reduce" if word in TO_ROOT else
                    "early_scan" if word in LOWER else "wait_at_barrier" if word == "BARRIER" else "wait_at_nxn")
            part.completed.consider(kind, max(time for time, _ in late))

    def waits(self):
        """Seconds by kind and rank."""
        sums = collections.Counter()
        for call in self.calls:
            if call.waited:
                sums[call.kind, call.rank] += call.waited / self.resolution
        return sums
