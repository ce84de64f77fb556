# SPDX-License-Identifier: BSD-3-Clause
"""gdb's inferiors: which hold a process, how gdb came to it, and its threads."""

import os
import re

import gdb

_RANDOM_BYTES = 16


def _selected_frame():
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


class Selection:
    """Remembers inferior, thread, frame and language, and puts them back."""

    def __enter__(self):
        self.inferior = gdb.selected_inferior()
        self.thread = gdb.selected_thread()
        self.frame = _selected_frame()
        self.language = gdb.parameter("language")
        return self

    def _moved(self):
        now = gdb.selected_thread()
        return (gdb.selected_inferior().num != self.inferior.num or (now is None) != (self.thread is None)
                or (now is not None and now.global_num != self.thread.global_num)
                or _selected_frame() != self.frame)

    def _go_back(self):
        if self.thread is not None and self.thread.is_valid():
            self.thread.switch()
            if self.frame is not None and self.frame.is_valid():
                self.frame.select()
        elif self.inferior.is_valid() and gdb.selected_inferior().num != self.inferior.num:
            gdb.execute("inferior %d" % self.inferior.num, to_string=True)

    def __exit__(self, *_):
        try:
            moved = self._moved()
            if moved:
                self._go_back()
            if moved or gdb.parameter("language") != self.language:
                # "auto" is set again too: gdb then takes the frame's, which it has not where we have been.
                gdb.execute("set language %s" % self.language, to_string=True)
        except gdb.error:
            pass # the process has ended under us: there is nothing to go back to


def kind(inferior):
    """"native", "core", "remote", or None for an inferior without a process."""
    if not inferior.is_valid() or inferior.pid == 0:
        return None
    connection = inferior.connection
    if connection is None:
        return None
    if connection.type == "extended-remote":
        return "remote"
    return connection.type


def attached():
    """The inferiors that hold a process or a core, the selected one first."""
    chosen = gdb.selected_inferior()
    ret = [inferior for inferior in gdb.inferiors() if kind(inferior)]
    ret.sort(key=lambda inferior: (inferior.num != chosen.num, inferior.num))
    return ret


def is_running(inferior):
    with Selection(): # with several connections gdb 13 forgets the frame when it lists threads
        return any(thread.is_running() for thread in inferior.threads())


def switch(inferior):
    """Makes inferior gdb's current one, silently; the caller holds a Selection."""
    if gdb.selected_inferior().num == inferior.num and gdb.selected_thread() is not None:
        return
    threads = inferior.threads()
    if threads:
        threads[-1].switch() # gdb lists the newest thread first
    else:
        gdb.execute("inferior %d" % inferior.num, to_string=True)


def main_thread(inferior):
    """The thread that started the process, or None."""
    threads = inferior.threads()
    for thread in threads:
        if thread.ptid[1] == inferior.pid:
            return thread
    return threads[-1] if threads else None


def direct_pid(inferior):
    """The pid by which this machine knows the process, if it does; 0 otherwise.

    Behind a gdbserver the process may be ours or another machine's that has the same number.  Its sixteen
    random bytes of the auxiliary vector tell."""
    how = kind(inferior)
    if how == "native":
        return inferior.pid
    if how != "remote":
        return 0
    try:
        with Selection():
            switch(inferior)
            vector = gdb.execute("info auxv", to_string=True)
            address = int(re.search(r"AT_RANDOM\b.*\b(0x[0-9a-f]+)", vector).group(1), 16)
            theirs = bytes(inferior.read_memory(address, _RANDOM_BYTES))
        memory = os.open("/proc/%d/mem" % inferior.pid, os.O_RDONLY)
        try:
            ours = os.pread(memory, _RANDOM_BYTES, address)
        finally:
            os.close(memory)
        return inferior.pid if ours == theirs else 0
    except (OSError, gdb.error, AttributeError):
        return 0
