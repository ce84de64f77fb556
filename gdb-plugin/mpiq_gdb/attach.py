# SPDX-License-Identifier: BSD-3-Clause
"""mpi attach and mpi detach: the other ranks of the job as inferiors."""

import contextlib
import os
import re
import time

import gdb

from . import command, inferiors, job, mpiq, world

_PROGRESS_SECONDS = 1.0

# Numbers of the inferiors that these commands made.
_made = set()


@contextlib.contextmanager
def _quietly():
    """gdb tells of switches and stops past whoever captures its text; before 13 it cannot be asked not to."""
    try:
        before = gdb.parameter("suppress-cli-notifications")
    except RuntimeError:
        yield
        return
    gdb.execute("set suppress-cli-notifications on", to_string=True)
    try:
        yield
    finally:
        gdb.execute("set suppress-cli-notifications %s" % ("on" if before else "off"), to_string=True)


def _empty_inferior(pid):
    """An inferior that can take the process: without one, and with no program or the same; a new one if there
    is none.  (inferior, whether it is new)"""
    try:
        programs = (None, os.path.realpath("/proc/%d/exe" % pid))
    except OSError:
        programs = (None,)
    for inferior in gdb.inferiors():
        if inferior.pid == 0 and inferior.progspace.filename in programs:
            return inferior, False
    said = gdb.execute("add-inferior -no-connection", to_string=True)
    number = int(re.search(r"Added inferior (\d+)", said).group(1))
    return next(inferior for inferior in gdb.inferiors() if inferior.num == number), True


def attach_process(pid, what):
    """gdb's attach to pid in an inferior of its own, which is selected then; a GdbError names `what`."""
    inferior, new = _empty_inferior(pid)
    try:
        with mpiq.undisturbed(), _quietly(), inferiors.Selection():
            gdb.execute("inferior %d" % inferior.num, to_string=True)
            gdb.execute("attach %d" % pid, to_string=True)
    except gdb.error as error:
        raise gdb.GdbError("cannot attach to %s: %s" % (what, error))
    finally: # ^C may come before or after gdb has it
        if inferior.pid != 0:
            _made.add(inferior.num)
        elif new:
            gdb.execute("remove-inferiors %d" % inferior.num, to_string=True)
    return inferior


def rank_inferior(rank):
    """The inferior of a rank of the chosen inferior's job, attached if it is not yet; a GdbError if that
    cannot be."""
    chosen = command.chosen_inferior()
    inferior = world.of_rank(rank, chosen)
    if inferior is not None:
        return inferior
    job.refuse_core(chosen, rank)
    if inferiors.kind(chosen) == "remote":
        raise gdb.GdbError("rank %d is not attached here: gdb cannot attach to it through another rank's "
                           "gdbserver; give it one of its own" % rank)
    return attach_known(job.processes(), rank)


def attach_known(processes, rank):
    """The inferior of a rank out of {rank: (pid, host)}, attached if it is not yet; a GdbError if that cannot
    be."""
    pid = job.pid_here(processes, rank)
    for inferior in inferiors.attached(): # a launcher that puts no rank into the environment
        if inferior.pid == pid:
            return inferior
    return attach_process(pid, "rank %d, process %d" % (rank, pid))


def _ranks_text(count):
    return "1 rank" if count == 1 else "%d ranks" % count


class _Progress:
    """Says how far it is, where it takes longer than a moment."""

    def __init__(self, total):
        self.total = total
        self.last = time.monotonic()

    def show(self, done, rank):
        now = time.monotonic()
        if now - self.last >= _PROGRESS_SECONDS:
            self.last = now
            gdb.write("attached %d of %d, rank %d is next\n" % (done, self.total, rank), gdb.STDERR)
            gdb.flush(gdb.STDERR)


def _attach_ranks(known, ranks):
    """All of them, going on over those that cannot be: how many, and what failed, as sentences."""
    native = inferiors.kind(command.chosen_inferior()) == "native"
    failures = []
    progress = _Progress(len(ranks))
    done = 0
    for count, rank in enumerate(ranks):
        progress.show(count, rank)
        try:
            if native: # no question to every inferior which rank it is
                attach_known(known, rank)
            else:
                rank_inferior(rank)
            done += 1
        except gdb.GdbError as error:
            failures.append(str(error))
    return done, failures


class Attach(gdb.Command):
    """Attach to other ranks of the job: each becomes an inferior.
Usage: mpi attach RANKS
       mpi attach --all
       mpi attach PID [RANKS | --all]

RANKS is a list such as 0-3,7 of the job that gdb has a rank of.  With gdb attached to
nothing, PID is where to begin: a rank's process, or the job's launcher (then rank 0,
if no RANKS are named).  Attached ranks are stopped until "mpi detach"; "mpi report"
needs only one.  "mpi rank N" goes to rank N."""

    def __init__(self):
        super().__init__("mpi attach", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        words = gdb.string_to_argv(argument)
        if inferiors.attached():
            self._ranks({}, words or ["--all"]) # a mistake is told before mpiq is asked
            known = job.processes()
        elif words and words[0].isdigit():
            known = job.ask_processes(words[:1])
            words = self._begin(known, int(words[0]), words[1:])
        else:
            raise gdb.GdbError("gdb has no process here: mpi attach PID begins with a rank or the launcher")
        if not words:
            raise gdb.GdbError("which ranks? mpi attach 0-3,7, or mpi attach --all for all %d of the job"
                               % len(known))
        ranks = self._ranks(known, words)
        try:
            done, failures = _attach_ranks(known, ranks)
        except KeyboardInterrupt:
            raise gdb.GdbError("interrupted: %d inferiors hold a process; mpi detach detaches from those that mpi attach "
                               "attached" % len(inferiors.attached()))
        if not done:
            raise gdb.GdbError("\n".join(failures))
        gdb.write("Attached to %s.  mpi rank N goes to one, mpi detach detaches from them.\n"
                  % (_ranks_text(done) if done == len(ranks) else "%d of %d ranks" % (done, len(ranks))))
        for failure in failures:
            gdb.write(failure + "\n", gdb.STDERR)

    @staticmethod
    def _ranks(known, words):
        return sorted(known) if words == ["--all"] else job.ranks_of(",".join(words))

    def _begin(self, known, pid, words):
        """Attaches to the first of the ranks that are meant, gdb having none yet; the ranks as words."""
        if not words: # the process itself, or the launcher's first
            words = [str(next((rank for rank, (one, _) in known.items() if one == pid), min(known)))]
        first = self._ranks(known, words)[0]
        inferior = attach_known(known, first)
        with _quietly():
            inferiors.switch(inferior)
        return words

    def complete(self, text, word):
        return job.complete_rank(text, word)


class Detach(gdb.Command):
    """Let ranks go that "mpi attach" or "mpi rank" attached: they run on.
Usage: mpi detach [RANKS]

RANKS is a list such as 0-3,7; without it all that these commands attached."""

    def __init__(self):
        super().__init__("mpi detach", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        made = [inferior for inferior in gdb.inferiors() if inferior.num in _made and inferior.pid]
        if argument.strip():
            ranks = set(job.ranks_of(",".join(gdb.string_to_argv(argument))))
            made = [inferior for inferior in made if world.rank_of(inferior) in ranks]
        if not made:
            raise gdb.GdbError("%s attached by mpi attach or mpi rank; use gdb's own detach for the process that gdb "
                               "was started with" % ("none of these ranks is" if argument.strip() else "no rank is"))
        with _quietly():
            self._leave(made)
            for inferior in made:
                number = inferior.num
                gdb.execute("detach inferiors %d" % number, to_string=True)
                _made.discard(number)
                if number != 1 and gdb.selected_inferior().num != number:
                    gdb.execute("remove-inferiors %d" % number, to_string=True)
        gdb.write("Detached from %s.\n" % _ranks_text(len(made)))

    @staticmethod
    def _leave(made):
        """Selects an inferior that stays, if the selected one goes."""
        going = {inferior.num for inferior in made}
        if gdb.selected_inferior().num not in going:
            return
        staying = [inferior for inferior in gdb.inferiors() if inferior.num not in going]
        staying.sort(key=lambda inferior: (inferior.pid == 0, inferior.num))
        if staying:
            inferiors.switch(staying[0])

    def complete(self, text, word):
        return job.complete_rank(text, word)


def register():
    Attach()
    Detach()
