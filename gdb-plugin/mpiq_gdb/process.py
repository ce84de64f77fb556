# SPDX-License-Identifier: BSD-3-Clause
"""One inferior as the wire asks about it: the callbacks of a target, answered by gdb."""

import os
import socket

import gdb

from . import environment, inferiors, stacks, symbols, thread_state, types

MAX_READ = 1 << 20


class Failure(Exception):
    """An answer that is an error: a word of the wire's list, and a sentence."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def _cpu_ns(path):
    """CPU time out of a stat file of the system's; None if it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * (1000000000 // os.sysconf("SC_CLK_TCK"))
    except (OSError, IndexError, ValueError):
        return None


def is_zombie(pid):
    """Whether a process of this machine has ended; a zombie too."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def tid_of(thread):
    """The system's number of a thread; some remote stubs tell it in another place."""
    return thread.ptid[1] or thread.ptid[2] or thread.ptid[0]


# What gdb has found of an inferior's symbols and types, for as long as it has the same files open.
_kept = {}


def of(inferior):
    """The Process of an inferior: the same one as long as gdb has the same files of it open."""
    kept = _kept.get(inferior.num)
    if kept is None or kept.inferior != inferior or kept.pid != inferior.pid:
        kept = _kept[inferior.num] = Process(inferior)
    return kept


def forget(*_):
    """gdb has opened or closed a file."""
    _kept.clear()


class Process:
    """An inferior.  Every function may move gdb's selection: the caller holds an inferiors.Selection."""

    def __init__(self, inferior):
        self.inferior = inferior
        self.pid = inferior.pid
        self.kind = inferiors.kind(inferior)
        self.direct = inferiors.direct_pid(inferior)
        self._types = []
        self._type_ids = {}
        self._symbols = {}
        self._units = None

    def _enter(self):
        if not self.inferior.is_valid() or self.inferior.pid == 0:
            raise Failure("gone", "the process has ended, or gdb has detached from it")
        inferiors.switch(self.inferior)

    def read(self, address, size):
        """size bytes at address."""
        self._enter()
        if size > MAX_READ:
            raise Failure("usage", "a read of %d bytes exceeds the wire's limit of %d" % (size, MAX_READ))
        if size == 0:
            return b""
        try:
            return bytes(self.inferior.read_memory(address, size))
        except gdb.MemoryError as error:
            raise Failure(*self._why_unreadable(address, size, error))

    def _why_unreadable(self, address, size, error):
        if self.direct and not os.path.exists("/proc/%d" % self.direct):
            return "gone", "process %d has ended" % self.direct
        try: # bytewise: gdb tells nothing about how far it came
            self.inferior.read_memory(address, 1)
        except gdb.error:
            return "unmapped", "no memory at 0x%x" % address
        return "short", "not all of the %d bytes at 0x%x can be read: %s" % (size, address, error)

    def symbol(self, name):
        self._enter()
        if name not in self._symbols:
            self._symbols[name] = symbols.find(name)
        if self._symbols[name] is None:
            raise Failure("not-found", "no symbol %s" % name)
        return self._symbols[name][0]

    def _likely_units(self):
        """Where MPI's types are known: the units of the symbols that were asked for, and of the functions
        that the process is in."""
        if self._units is None:
            self._units = types.Units()
            main = inferiors.main_thread(self.inferior)
            for symtab in stacks.symtabs(main) if main is not None else ():
                self._units.add(symtab)
        for found in self._symbols.values():
            self._units.add(found and found[1])
        return self._units

    def type(self, name):
        """(id, bytes)"""
        self._enter()
        if name not in self._type_ids:
            found = types.find(name, self._likely_units())
            self._type_ids[name] = None if found is None else len(self._types)
            if found is not None:
                self._types.append(found)
        number = self._type_ids[name]
        if number is None:
            raise Failure("not-found", "no type %s that is defined" % name)
        return number + 1, self._types[number].sizeof

    def field(self, number, member):
        if not 1 <= number <= len(self._types):
            raise Failure("usage", "no type has the number %d" % number)
        self._enter()
        offset = types.field_offset(self._types[number - 1], member)
        if offset is None:
            raise Failure("not-found", "%s has no member %s" % (self._types[number - 1], member))
        return offset

    def sizes(self):
        self._enter()
        return types.sizes()

    def status(self):
        """Who it is, and how it was before gdb stopped it: that gdb holds it is no finding."""
        self._enter()
        core = self.kind == "core"
        main = inferiors.main_thread(self.inferior)
        ret = {"pid": self.inferior.pid, "state": "?", "core": core, "traced": False}
        if main is not None and not core:
            ret["state"] = thread_state.before(main)
        if self.direct:
            here = "/proc/%d" % self.direct
            ret["cpu_ns"] = _cpu_ns(here + "/stat") or 0
            ret["host"] = socket.gethostname()
            if is_zombie(self.direct):
                ret["state"] = "Z"
            else:
                ret["uid"] = os.stat(here).st_uid
        executable = self.inferior.progspace.filename
        if executable:
            ret["executable"] = executable
        return ret

    def threads(self):
        self._enter()
        ret = []
        for thread in sorted(self.inferior.threads(), key=tid_of):
            one = {"tid": tid_of(thread), "state": "?"}
            if self.kind != "core":
                one["state"] = thread_state.before(thread)
            if self.direct:
                one["cpu_ns"] = _cpu_ns("/proc/%d/task/%d/stat" % (self.direct, one["tid"])) or 0
            if thread.name:
                one["name"] = thread.name
            ret.append(one)
        return ret

    def stack(self, tid):
        self._enter()
        for thread in self.inferior.threads():
            if tid_of(thread) == tid:
                return stacks.stack(thread)
        raise Failure("not-found", "process %d has no thread %d" % (self.inferior.pid, tid))

    def place(self, address):
        self._enter()
        return stacks.place(address)

    def environment(self, name):
        self._enter()
        try:
            value = environment.variable(self.inferior, name)
        except OSError as error:
            raise Failure("gone" if isinstance(error, FileNotFoundError) else "permission", str(error))
        if value is None:
            raise Failure("not-found", "no variable %s in the environment" % name)
        return value

    def forget(self):
        """An inferior that gdb has stopped does not move, and gdb itself forgets when it resumes it."""


def register():
    for event in ("new_objfile", "free_objfile", "clear_objfiles", "exited", "inferior_deleted"):
        if hasattr(gdb.events, event):
            getattr(gdb.events, event).connect(forget)
