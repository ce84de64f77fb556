# SPDX-License-Identifier: BSD-3-Clause
"""The mpiq process behind a command: finding it, starting it, serving it gdb's inferiors, its answer.

gdb may be called by its main thread alone, so there is one loop over everything: the wires and mpiq's
output."""

import contextlib
import os
import select
import shutil
import signal
import subprocess

import gdb

from . import FOLDER, inferiors, process, words
from .wire import Connection, ProtocolError, Server

_PIECE = 1 << 16
_POLL_MS = 200
_END_SECONDS = 2.0


def find():
    """The path of mpiq; a GdbError that says what to do if there is none."""
    chosen = gdb.parameter("mpi mpiq") or os.environ.get("MPIQ")
    if chosen:
        chosen = os.path.expanduser(chosen)
        if not os.access(chosen, os.X_OK) or os.path.isdir(chosen):
            raise gdb.GdbError("%s is not a program: set the path of mpiq with set mpi mpiq PATH (or in the "
                               "environment variable MPIQ)" % chosen)
        return os.path.abspath(chosen)
    for relative in ("../cli/mpiq", "../../bin/mpiq"): # built, installed
        beside = os.path.normpath(os.path.join(FOLDER, relative))
        if os.access(beside, os.X_OK) and not os.path.isdir(beside):
            return beside
    found = shutil.which("mpiq")
    if found is None:
        raise gdb.GdbError("mpiq is not on PATH: set its path with set mpi mpiq PATH")
    return found


class Answer:
    """What mpiq said: its exit status, its standard output and its messages."""

    def __init__(self, status, output, messages):
        self.status = status
        self.output = output
        self.messages = messages

    @property
    def failed(self):
        """Whether it is a wrong usage, or nothing could be read."""
        return self.status not in (0, 1)


def _environment():
    """mpiq's: as wide as gdb is set to print, which is not what the terminal library has left there."""
    ret = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    if gdb.parameter("width"):
        ret["COLUMNS"] = str(gdb.parameter("width"))
    return ret


class _Run:
    """One mpiq process and the connections that it is served."""

    def __init__(self, arguments, served):
        self.arguments = arguments
        self.connections = []
        self.theirs = []
        try:
            wires = []
            for inferior in served:
                wires += ["--wire", self._connect(inferior)]
            self.process = self._start([find()] + arguments[:1] + wires + arguments[1:])
        except OSError as error: # of a pipe: each inferior takes four of gdb's descriptors
            self._close()
            raise gdb.GdbError("%s cannot be served to mpiq: %s (ulimit -n raises the limit of descriptors)"
                               % (words.count_of(len(served), "inferior"), error.strerror))
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in self.theirs:
                os.close(descriptor)
        self.output = bytearray()
        self.messages = bytearray()
        self.streams = {self.process.stdout.fileno(): self.output,
                        self.process.stderr.fileno(): self.messages}

    def _connect(self, inferior):
        """A wire to inferior; its two ends for mpiq, as --wire takes them."""
        their_in, replies = os.pipe()
        requests, their_out = os.pipe()
        self.theirs += [their_in, their_out]
        self.connections.append(Connection(Server(process.of(inferior)), requests, replies))
        return "%d,%d" % (their_in, their_out)

    def _start(self, command):
        # gdb blocks signals at times, and a child would inherit that.  A session of its own: ^C at the
        # terminal is for gdb, which then ends mpiq.
        mask = signal.pthread_sigmask(signal.SIG_SETMASK, [])
        try:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, pass_fds=self.theirs, env=_environment(),
                                    start_new_session=True)
        except OSError as error:
            raise gdb.GdbError("%s cannot be started: %s" % (command[0], error.strerror))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _close(self):
        for connection in self.connections:
            connection.close()

    def _take(self, descriptor):
        piece = os.read(descriptor, _PIECE)
        if piece:
            self.streams[descriptor] += piece
        else:
            del self.streams[descriptor]

    def _turn(self, wait_ms):
        """Waits for something to happen and sees to it; False if nothing did."""
        poll = select.poll()
        reading, writing = {}, {}
        for connection in self.connections:
            if connection.wants_to_read():
                reading[connection.requests] = connection
                poll.register(connection.requests, select.POLLIN)
            if connection.wants_to_write():
                writing[connection.replies] = connection
                poll.register(connection.replies, select.POLLOUT)
        for descriptor in self.streams:
            poll.register(descriptor, select.POLLIN)
        ready = poll.poll(wait_ms)
        for descriptor, _ in ready:
            if descriptor in self.streams:
                self._take(descriptor)
            elif descriptor in reading and not reading[descriptor].closed:
                reading[descriptor].read()
            elif descriptor in writing and not writing[descriptor].closed:
                writing[descriptor].write()
        return bool(ready)

    def serve(self):
        """Until mpiq has ended and said all.  What it started may hold its output open: that is not
        waited for."""
        try:
            while self.process.poll() is None:
                if self.streams:
                    self._turn(_POLL_MS)
                else:
                    self.process.wait()
            self._close()
            while self.streams and self._turn(0):
                pass
        finally:
            self._close()
            self.end()

    def end(self):
        """mpiq is gone after this, asked or not, with all it started."""
        try:
            if self.process.poll() is None:
                self.process.terminate()
                try:
                    self.process.wait(_END_SECONDS)
                except subprocess.TimeoutExpired:
                    pass
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


# Above 0 while an inferior is served: what gdb prints meanwhile is for nobody, and must not ask mpiq.
_runs = 0


def is_running():
    """Whether mpiq is being served now."""
    return _runs > 0


@contextlib.contextmanager
def undisturbed():
    """What gdb prints in it asks mpiq nothing."""
    global _runs
    _runs += 1
    try:
        yield
    finally:
        _runs -= 1


def run(arguments, served):
    """Runs mpiq with those arguments, serves it those inferiors; an Answer, or a GdbError."""
    with undisturbed(), inferiors.Selection():
        if served:
            # The names that mpiq asks for are C's, wherever the user's program is stopped.
            gdb.execute("set language c", to_string=True)
        try:
            this = _Run(arguments, served)
            this.serve()
        except KeyboardInterrupt:
            raise gdb.GdbError("interrupted: mpiq has been ended, the job is unchanged")
        except ProtocolError as error:
            raise gdb.GdbError("%s; is %s of the same version as these commands?" % (error, find()))
    if this.process.returncode < 0:
        number = -this.process.returncode
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = "signal %d" % number
        raise gdb.GdbError("mpiq was ended by %s before it had an answer; the job is unchanged" % name)
    return Answer(this.process.returncode, this.output.decode("utf-8", "replace"),
                  this.messages.decode("utf-8", "replace"))
