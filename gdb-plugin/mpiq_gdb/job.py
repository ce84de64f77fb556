# SPDX-License-Identifier: BSD-3-Clause
"""What is known of the job that gdb's inferiors belong to: its ranks and their processes."""

import contextlib
import json
import os
import re
import socket
import tempfile

import gdb

from . import command, inferiors, world

# What the last report said: {rank: (pid, host)} of the first world, and names of communicators.
_known = {}
_communicators = ["MPI_COMM_WORLD"]


@contextlib.contextmanager
def scratch_file():
    """The name of a file that mpiq may write, for as long as the context lasts."""
    try:
        folder = tempfile.mkdtemp(prefix="mpiq-gdb-")
    except OSError as error:
        raise gdb.GdbError("cannot make a folder for what mpiq reads: %s" % error)
    path = os.path.join(folder, "report.json")
    try:
        yield path
    finally:
        with contextlib.suppress(OSError): # by name: there may be no descriptor left to list it
            os.unlink(path)
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _ranks_in(report):
    """{rank: (pid, host)} of the first world; other worlds' ranks are words, not numbers."""
    return {entry["rank"]: (entry.get("pid", 0), entry.get("host", "")) for entry in report["ranks"]
            if isinstance(entry["rank"], int)}


def learn(text):
    """The report in JSON that mpiq has written, its ranks remembered for later commands; {} if it is none."""
    try:
        report = json.loads(text)
        ranks = _ranks_in(report)
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    if ranks:
        _known.clear()
        _known.update(ranks)
    names = [comm.get("name") for comm in report.get("communicators", ()) if isinstance(comm, dict)]
    for name in names:
        if name and name not in _communicators:
            _communicators.append(name)
    return report


def learn_file(path):
    """The same out of a file; {} if mpiq has not written it."""
    try:
        with open(path, encoding="utf-8") as file:
            return learn(file.read())
    except (OSError, ValueError):
        return {}


def ask_processes(targets=()):
    """{rank: (pid, host)} of the job of targets, or of the chosen inferior; a GdbError if there is none."""
    answer = command.ask("ranks", ["--json", "--pause", "0"], targets) # who they are, not how they do
    if not learn(answer.output).get("ranks"):
        command.check(answer, "mpi")
        raise gdb.GdbError("mpiq found no ranks%s" % (" of " + targets[0] if targets else ""))
    return dict(_known)


def processes():
    """{rank: (pid, host)} of the job of the chosen inferior; asks mpiq if that is not known yet."""
    pid = inferiors.direct_pid(command.chosen_inferior())
    if pid and pid in (one for one, _ in _known.values()):
        return dict(_known)
    return ask_processes()


def refuse_core(chosen, rank):
    """A GdbError if what is looked at are core files: whatever runs now is another job than theirs."""
    if inferiors.kind(chosen) == "core":
        raise gdb.GdbError("rank %d has no core open here: add-inferior -no-connection -exec PROGRAM, "
                           "inferior N and core FILE open it" % rank)


def pid_here(known, rank):
    """The process of a rank out of {rank: (pid, host)}; a GdbError if there is none on this machine."""
    if rank not in known:
        raise gdb.GdbError("there is no rank %d: mpiq knows ranks 0 to %d of this job" % (rank, max(known)))
    pid, host = known[rank]
    if not is_here(host):
        raise gdb.GdbError("rank %d is process %d on %s: %s" % (rank, pid, host, how_to_go(pid, host)))
    if not pid:
        raise gdb.GdbError("rank %d has no process any more" % rank)
    return pid


def how_to_go(pid, host):
    """What to type for a gdb at a process of another host; its name came from there, and may be anything."""
    if not pid or not re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z", host):
        return "attach to it there"
    slurm = os.environ.get("SLURM_JOB_ID", "")
    way = "srun --jobid=%s --overlap --pty -w %s" % (slurm, host) if slurm.isdigit() else "ssh -t %s" % host
    return "type %s gdb -p %d in another terminal" % (way, pid)


def is_here(host):
    """Whether a host's name is this machine's; a report may leave it out."""
    return host in ("", socket.gethostname(), socket.getfqdn())


def ranks_of(text):
    """The ranks of a list such as 0-3,7 or 0-46:2; raises GdbError if it is none."""
    if not re.match(r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*\Z", text):
        raise gdb.GdbError("'%s' is not a list of ranks such as 0-3,7 or 0-46:2" % text)
    ret = []
    for part in text.split(","):
        ends, _, stride = part.partition(":")
        first, _, last = ends.partition("-")
        first, last, stride = int(first), int(last or first), int(stride or 1)
        if last < first or last - first > 1 << 20 or stride == 0:
            raise gdb.GdbError("%s is not a range of ranks" % part)
        ret += range(first, last + 1, stride)
    return ret


def first_rank(text):
    """The first rank of a list out of a report, or None where it begins with another world's."""
    match = re.match(r"\d+", text)
    return int(match.group()) if match else None


def complete_rank(text, word):
    """Ranks that begin with word, of what is known already: a completion starts no process."""
    ranks = set(_known)
    for inferior in inferiors.attached():
        ranks.update(range(world.size_of(inferior) or 0))
        break
    return [str(rank) for rank in sorted(ranks) if str(rank).startswith(word or text.split(" ")[-1])]


def complete_communicator(text, word):
    """Names of communicators that begin with text, from where word begins; of what is known already."""
    start = len(text) - len(word or "")
    return [name[start:] for name in sorted(_communicators) if name.startswith(text) and " " not in name]
