# SPDX-License-Identifier: BSD-3-Clause
"""mpi message RANK QUEUE INDEX"""

import gdb

from . import command, contents, inferiors, job, question, settings, words, world

_QUEUES = {"sends": "pending sends", "receives": "posted receives", "unexpected": "unexpected messages"}
_SENDS = ("send", "bsend", "ssend", "rsend", "psend")
_USAGE = ("mpi message takes a rank, a queue (sends, receives, unexpected) and a number: "
          "mpi message 3 receives 0")


class _Asked:
    """A rank that can be asked: through gdb where it is attached, else by mpiq alone."""

    def __init__(self, rank):
        chosen = command.chosen_inferior()
        self.rank = rank
        self.inferior = world.of_rank(rank, chosen)
        self.pid = None
        if self.inferior is not None:
            if inferiors.is_running(self.inferior):
                raise gdb.GdbError("rank %d, inferior %d, is running: stop it first"
                                   % (rank, self.inferior.num))
            return
        job.refuse_core(chosen, rank)
        if not inferiors.direct_pid(chosen):
            raise gdb.GdbError("rank %d is not attached here, and the job runs on another machine: give it a "
                               "gdbserver of its own" % rank)
        self.pid = job.pid_here(job.processes(), rank)

    def ask(self, what, **more):
        asked = dict(more, ask=what, internal=settings.internal())
        if self.inferior is not None:
            return question.of_inferior(self.inferior, asked)
        return question.of_process(self.pid, asked)

    def queue(self, name):
        """The operations of a queue; a GdbError where it cannot be read."""
        try:
            return self.ask("queue", queue=name)["operations"]
        except question.Unanswered as problem:
            raise gdb.GdbError("the %s of rank %d cannot be read: %s" % (_QUEUES[name], self.rank, problem))


def _queue_of(word):
    for name in _QUEUES:
        if name.startswith(word) and word:
            return name
    raise gdb.GdbError("there is no queue '%s': sends, receives or unexpected" % word)


def _row(number, operation):
    of = words.datatype(operation)
    length = operation.get("bytes", -1)
    return "%4d  %s: %s%s%s\n" % (number, words.envelope(operation), of + ", " if of else "",
                                  words.count_of(length, "byte") + ", " if length >= 0 else "",
                                  words.state(operation))


def _list(rank, name):
    operations = rank.queue(name)
    if not operations:
        gdb.write("Rank %d has no %s.\n" % (rank.rank, _QUEUES[name]))
        return
    gdb.write("%s of rank %d\n" % (_QUEUES[name].capitalize(), rank.rank))
    for number, operation in enumerate(operations):
        gdb.write(_row(number, operation))


def _answer(rank, name, number):
    """The envelope and contents of one message, as mpiq answers."""
    try:
        return rank.ask("contents", queue=name, index=number, elements=contents.limit() + 1)
    except question.Unanswered as problem:
        there = len(rank.queue(name))
        if number >= there:
            raise gdb.GdbError("rank %d has no %s" % (rank.rank, _QUEUES[name]) if not there else
                               "rank %d has no number %d among its %s: the last one is %d" %
                               (rank.rank, number, _QUEUES[name], there - 1))
        raise gdb.GdbError("the message cannot be read: %s" % problem)


def _senders_view(rank, message):
    """(the sender, mpiq's answer about its send) of an unexpected message whose send is still pending;
    None."""
    if message.get("peer") is None:
        return None
    try:
        sender = _Asked(message["peer"])
        for number, send in enumerate(sender.queue("sends")):
            if (send.get("tag") == message.get("tag") and send.get("bytes") == message.get("bytes")
                    and send.get("peer") == rank.rank
                    and send.get("communicator") == message.get("communicator")
                    and send.get("sequence", 0) & 0xffff == message.get("sequence", 0) & 0xffff):
                return sender, _answer(sender, "sends", number)
    except (gdb.GdbError, question.Unanswered):
        pass # what the receiver has is shown
    return None


def _write_contents(answer):
    datatype = answer.get("datatype")
    operation = answer["operation"]
    if datatype is not None:
        how = datatype["text"]
        name = datatype["name"] or ("" if how else "an unnamed datatype")
        gdb.write("%d x %s%s%s\n" % (operation["count"], name, ", " if name and how else "", how))
    if operation.get("packed") and operation.get("kind") == "bsend":
        gdb.write("The library's copy at 0x%x; what was sent ahead with its announcement is no longer in "
                  "it:\n" % operation["buffer"])
    elif operation.get("buffer"):
        gdb.write("%s 0x%x:\n" % ("The receive's buffer, as it is now, at"
                                  if operation.get("kind") == "receive" else "At", operation["buffer"]))
    for line in contents.lines(answer):
        gdb.write(line + "\n")
    if answer.get("problem"):
        gdb.write("%s\n" % answer["problem"])


def _show(rank, name, number, type_name):
    answer = _answer(rank, name, number)
    operation = answer["operation"]
    gdb.write(_row(number, operation))
    data = bytes.fromhex(answer.get("data", ""))
    if type_name:
        if not data:
            raise gdb.GdbError("nothing of the message is available: %s"
                               % answer.get("problem", "it has no bytes"))
        gdb.write(contents.as_type(data, type_name) + "\n")
        return
    if name == "unexpected":
        found = _senders_view(rank, operation)
        if found is not None:
            gdb.write("As held by its sender, rank %d, whose send is still pending:\n" % found[0].rank)
            _write_contents(found[1])
        elif data:
            gdb.write("Only the sender knows its datatype, and the send has ended.  mpi message %d "
                      "unexpected %d as TYPE shows it as a type of your program.\n%s\n"
                      % (rank.rank, number, contents.as_bytes(data)))
        else:
            gdb.write("Only its announcement has arrived.\n")
        return
    if operation.get("kind") in ("receive", *_SENDS): # a probe takes nothing
        _write_contents(answer)


class Message(gdb.Command):
    """One message of a queue: its envelope, and what it holds.
Usage: mpi message RANK QUEUE INDEX [as TYPE]
       mpi message RANK [QUEUE]

QUEUE is sends, receives or unexpected; without INDEX the messages of the queue are
listed with their numbers.  The contents are shown by the MPI datatype, derived ones
too, or "as TYPE", a type of your program: mpi message 3 receives 0 as struct cell.
Of an unexpected message the datatype is known only as long as its sender waits.
"set print elements" limits what is shown."""

    def __init__(self):
        super().__init__("mpi message", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        before, _, type_name = (" " + argument + " ").partition(" as ")
        given = gdb.string_to_argv(before)
        if not 1 <= len(given) <= 3 or not given[0].isdigit() or (len(given) == 3 and not given[2].isdigit()):
            raise gdb.GdbError(_USAGE)
        if type_name.strip() and len(given) != 3:
            raise gdb.GdbError(_USAGE)
        names = [_queue_of(given[1])] if len(given) > 1 else list(_QUEUES)
        rank = _Asked(int(given[0]))
        if len(given) == 3:
            _show(rank, names[0], int(given[2]), type_name.strip())
            return
        for name in names:
            _list(rank, name)

    def complete(self, text, word):
        if len(text.split(" ")) == 2:
            return [name for name in _QUEUES if name.startswith(word or "")]
        return job.complete_rank(text, word) if " " not in text else gdb.COMPLETE_NONE


def register():
    Message()
