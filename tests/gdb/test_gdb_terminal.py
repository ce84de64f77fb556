# SPDX-License-Identifier: BSD-3-Clause
"""The commands as a person types them: a terminal, its ^C, its colours."""
import os
import pty
import select
import subprocess

import gdb_session
from test_gdb_trouble import is_free, is_gone
from support.conditions import wait_until


class Terminal:
    """gdb on a pseudo-terminal."""

    def __init__(self, pid, **variables):
        self.own, theirs = pty.openpty()
        self.said = ""
        command = [word for word in gdb_session.command_line([]) if word != "-batch"]
        self.process = subprocess.Popen([*command, "-p", str(pid)], stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True,
                                        env=gdb_session.environment(TERM="xterm", **variables),
                                        preexec_fn=self._take_terminal)
        os.close(theirs)
        self.read_until("(gdb) ")

    @staticmethod
    def _take_terminal():
        os.close(os.open(os.ttyname(0), os.O_RDWR)) # the first terminal a session opens is its own

    def read_until(self, text):
        """What gdb says up to and with text."""
        def has_said():
            if text not in self.said and select.select([self.own], [], [], 0.2)[0]:
                self.said += os.read(self.own, 65536).decode("utf-8", "replace")
            return text in self.said

        wait_until(has_said, lambda: f"{text!r}: {self.said}", every=0)
        at = self.said.index(text) + len(text)
        ret, self.said = self.said[:at], self.said[at:]
        return ret

    def type(self, text):
        os.write(self.own, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.own)


def test_interrupt_key(wire, hung):
    pid = hung.pids[1]
    with Terminal(pid, **wire.variables(behaviour="hang")) as terminal:
        terminal.type("mpi ranks\n")
        wait_until(lambda: wire.pid_file.exists() and wire.pid_file.read_text().endswith("\n"),
                 "mpiq was not started")
        terminal.type("\x03")
        terminal.read_until("interrupted: mpiq has been ended, the job is unchanged")
        terminal.read_until("(gdb) ")
        terminal.type("frame function main\n")
        assert "main (" in terminal.read_until("(gdb) ").replace("\x1b[33m", "").replace("\x1b[m", "")
    assert is_gone(int(wire.pid_file.read_text()))
    wait_until(lambda: is_free(pid), "rank 1 does not run on")


def test_color_only_at_a_terminal(wire, hung):
    variables = wire.variables(["hello 1"])
    with Terminal(hung.pids[1], **variables) as terminal:
        terminal.type("set pagination off\n")
        terminal.read_until("(gdb) ")
        terminal.type("mpi ranks\n")
        assert '"--color", "always"' in terminal.read_until("]]}")
        terminal.read_until("(gdb) ")
        terminal.type("set style enabled off\n")
        terminal.read_until("(gdb) ")
        terminal.type("mpi ranks\n")
        assert '"--color", "never"' in terminal.read_until("]]}")
