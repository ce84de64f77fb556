# SPDX-License-Identifier: BSD-3-Clause
"""set mpi … and show mpi …"""

import gdb


class MpiPrefix(gdb.Command):
    """Why an MPI job hangs: the ranks of the job that gdb is attached to, side by side.

Attach gdb to any one rank of a job that hangs, or open its core file.  Then
    mpi report      says why the job hangs, and which rank to look at first
    mpi rank 1      goes to that rank, to the line of your program that waits
    info locals     and gdb's other commands are about that rank from then on
    mpi detach      lets it go
The other ranks are read without stopping them; "mpi rank" stops the one it goes to.
$mpi_rank(), $mpi_size() and $mpi_pid(RANK) are functions for expressions, "help set
mpi" lists the settings, and MPI's handles are printed as what they stand for."""

    def __init__(self):
        super().__init__("mpi", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        if argument:
            raise gdb.GdbError('Undefined mpi command: "%s".  Try "help mpi".' % argument)
        gdb.execute("help mpi")


class SetPrefix(gdb.Command):
    """How the mpi commands work."""

    def __init__(self):
        super().__init__("set mpi", gdb.COMMAND_SUPPORT, gdb.COMPLETE_NONE, True)


class ShowPrefix(gdb.Command):
    """How the mpi commands are set to work."""

    def __init__(self):
        super().__init__("show mpi", gdb.COMMAND_SUPPORT, gdb.COMPLETE_NONE, True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError('Undefined show mpi command: "%s".  Try "help show mpi".' % argument)
        for setting in ("mpiq", "dll", "internal", "stop", "handles"):
            gdb.write("%s:  " % setting)
            gdb.execute("show mpi %s" % setting)


class _Quiet(gdb.Parameter):
    """A setting that says nothing when it is set."""

    def get_set_string(self):
        return ""


class MpiqPath(_Quiet):
    """The mpiq program that the mpi commands run.

Without it: the environment variable MPIQ, the mpiq installed or built together
with these commands, the mpiq on PATH."""

    set_doc = "Set the mpiq program that the mpi commands run."
    show_doc = "Show the mpiq program that the mpi commands run."

    def __init__(self):
        super().__init__("mpi mpiq", gdb.COMMAND_SUPPORT, gdb.PARAM_OPTIONAL_FILENAME)

    def get_show_string(self, value):
        from . import mpiq
        try:
            return 'mpiq is "%s".' % mpiq.find()
        except gdb.GdbError as error:
            return str(error)


class DllPath(_Quiet):
    """The message-queue DLL that reads the MPI library.

Without it: mpiq's own for Open MPI, or what the process announces."""

    set_doc = "Set the message-queue DLL that reads the MPI library."
    show_doc = "Show the message-queue DLL that reads the MPI library."

    def __init__(self):
        super().__init__("mpi dll", gdb.COMMAND_SUPPORT, gdb.PARAM_OPTIONAL_FILENAME)

    def get_show_string(self, value):
        return "The message-queue DLL is %s." % ('"%s"' % value if value else "mpiq's choice")


class Internal(_Quiet):
    """Whether the MPI library's own traffic is shown.

The messages that collectives are made of, and communicators that the library
keeps for itself."""

    set_doc = "Set whether the MPI library's own traffic is shown."
    show_doc = "Show whether the MPI library's own traffic is shown."

    def __init__(self):
        super().__init__("mpi internal", gdb.COMMAND_SUPPORT, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_show_string(self, value):
        return "The MPI library's own traffic is %s." % ("shown" if self.value else "not shown")


class Stop(_Quiet):
    """Whether ranks that gdb has not attached are stopped while they are read.

They need not be: a rank that hangs does not move.  A stop can make a slow
system call of the rank return EINTR."""

    set_doc = "Set whether ranks that gdb has not attached are stopped while they are read."
    show_doc = "Show whether ranks that gdb has not attached are stopped while they are read."

    def __init__(self):
        super().__init__("mpi stop", gdb.COMMAND_SUPPORT, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_show_string(self, value):
        return "Other ranks are %s while they are read." % ("stopped" if self.value else "not stopped")


class Handles(_Quiet):
    """Whether MPI's handles are printed as what they stand for.

A communicator with its name, a request with its envelope, a datatype with how it was
made, a group with its ranks, a status with its sender.  "print/r" shows one plain."""

    set_doc = "Set whether MPI's handles are printed as what they stand for."
    show_doc = "Show whether MPI's handles are printed as what they stand for."

    def __init__(self):
        super().__init__("mpi handles", gdb.COMMAND_SUPPORT, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_show_string(self, value):
        return "MPI's handles are printed %s." % ("as what they stand for" if self.value else "plain")


def dll_options():
    """The choice of the DLL, as options of mpiq."""
    return ["--dll", gdb.parameter("mpi dll")] if gdb.parameter("mpi dll") else []


def internal():
    """Whether the library's own traffic is wanted."""
    return bool(gdb.parameter("mpi internal"))


def options():
    """What is set, as options of mpiq."""
    ret = dll_options()
    if internal():
        ret.append("--all")
    if gdb.parameter("mpi stop"):
        ret.append("--stop")
    return ret


def register():
    for command in (MpiPrefix, SetPrefix, ShowPrefix, MpiqPath, DllPath, Internal, Stop, Handles):
        command()
