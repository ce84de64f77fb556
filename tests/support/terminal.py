# SPDX-License-Identifier: BSD-3-Clause
"""A terminal with a program in it: tmux, as people have it, without anybody's settings."""
import os
import re
import shutil
import subprocess
import uuid

import pytest

from support.conditions import Unchanged, wait_until


class Terminal:
    """Runs a command in a tmux of its own, in that directory."""

    def __init__(self, command, directory, columns=100, lines=30):
        if shutil.which("tmux") is None:
            pytest.skip("tmux is not installed")
        self.name = f"mpiq-{uuid.uuid4().hex}"
        # The shell that has started the command says its exit status, and keeps what was on the screen.
        words = " ".join(f"'{word}'" for word in map(str, command))
        script = f"{words}; echo \"status $?\"; read -r nothing"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", lines, "-c", directory,
                   "sh", "-c", script)

    def _tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.name, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, done.stdout
        return done.stdout

    def screen(self):
        return self._tmux("capture-pane", "-p")

    def until(self, right, what, seconds=60):
        """What right(screen) gives once that is true.  A screen on which nothing but numbers changes is not waited for."""
        shown, unchanged = [], Unchanged(seconds / 4, 20)

        def is_right():
            shown[:] = [self.screen()]
            found = right(shown[0])
            assert found or not unchanged.stays(re.sub(r"\d+", "0", shown[0])), f"the screen stays without {what}:\n{shown[0]}"
            return found

        return wait_until(is_right, lambda: f"{what} on the screen:\n{shown[0]}", seconds=seconds, every=0.1)

    def wait_for(self, *texts, seconds=60):
        """Until all of them stand on the screen: it."""
        return self.until(lambda screen: all(text in screen for text in texts) and screen, texts, seconds)

    def type(self, *keys):
        """Keys by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def resize(self, columns, lines):
        self._tmux("resize-window", "-x", columns, "-y", lines)

    def pid(self):
        """The shell's."""
        return int(self._tmux("list-panes", "-F", "#{pane_pid}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-L", self.name, "kill-server"], stderr=subprocess.DEVNULL, check=False)
