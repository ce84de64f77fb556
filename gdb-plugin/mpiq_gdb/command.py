# SPDX-License-Identifier: BSD-3-Clause
"""What the commands that ask mpiq share: their words, which inferiors are served, how an answer is shown."""

import glob
import os
import re
import subprocess
import sys

import gdb

from . import inferiors, mpiq, process, settings, symbols, world

_RANKS = re.compile(r"(w\d+:)?\d+(-\d+(:\d+)?)?(,(w\d+:)?\d+(-\d+(:\d+)?)?)*\Z")
_with_value = {} # by path of mpiq


def is_ranks(word):
    """Whether word is a list of ranks such as 0-3,7 or 0-46:2."""
    return _RANKS.match(word) is not None


def _takes_value(word):
    """Whether the next word belongs to that option, as the mpiq in use says.  It knows unambiguous beginnings."""
    path = mpiq.find()
    if path not in _with_value:
        done = subprocess.run([path, "--options-with-values"], capture_output=True, text=True, check=False)
        _with_value[path] = done.stdout.split()
    return "=" not in word and (word in _with_value[path] or (
        len(word) > 3 and any(name.startswith(word) for name in _with_value[path])))


def split_words(argument):
    """The words of a command line, sorted into (options with their values, the rest)."""
    options, rest = [], []
    words = gdb.string_to_argv(argument)
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        options.append(word)
        if words and _takes_value(word):
            options.append(words.pop(0))
    return options, rest


def is_pattern(word):
    """Whether the shell would look for files of that name."""
    return glob.has_magic(word)


def _expanded(targets):
    """gdb has no shell before it: patterns and ~ in names of files are ours to resolve."""
    ret = []
    for word in targets:
        path = os.path.expanduser(word)
        found = sorted(glob.glob(path)) if is_pattern(path) else [path]
        ret += found
        if not found:
            raise gdb.GdbError("there is no file called %s" % word)
    return ret


def _served(chosen):
    """The inferiors that mpiq is served when chosen is looked at: those of its job, chosen first."""
    core = inferiors.kind(chosen) == "core"
    job = world.namespace_of(chosen)
    ret = []
    for inferior in inferiors.attached():
        if inferiors.is_running(inferior) or (inferiors.kind(inferior) == "core") != core:
            continue
        if inferior.num != chosen.num and job and world.namespace_of(inferior) != job:
            continue
        ret.append(inferior)
    return ret


def chosen_inferior():
    """The inferior to begin with: the selected one, or the first that holds a process; a GdbError else."""
    everyone = inferiors.attached()
    if not everyone:
        raise gdb.GdbError("gdb has no process here: attach to a rank of the job (attach PID), or open its "
                           "core (core FILE)")
    if inferiors.is_running(everyone[0]):
        raise gdb.GdbError("inferior %d is running: stop it first (^C or interrupt), then ask again"
                           % everyone[0].num)
    return everyone[0]


def _has_mpi(inferior):
    """Whether there is an MPI library in it, any one's."""
    with inferiors.Selection():
        inferiors.switch(inferior)
        return any(symbols.find(name) for name in ("PMPI_Init", "MPI_Init"))


def ask(subcommand, options=(), targets=()):
    """mpiq's Answer about targets, or about what gdb has attached if there are none."""
    arguments = [subcommand] + settings.options() + list(options)
    if "--color" not in arguments:
        arguments += ["--color", "never"]
    targets = _expanded(targets)
    if targets and not all(word.isdigit() for word in targets):
        return mpiq.run(arguments + targets, []) # files: gdb's inferiors are not meant
    if targets:
        attached = inferiors.attached()
        return mpiq.run(arguments + targets, _served(attached[0]) if attached else [])
    chosen = chosen_inferior()
    pid = inferiors.direct_pid(chosen)
    answer = mpiq.run(arguments + ([str(pid)] if pid else []), _served(chosen))
    if answer.failed and not answer.output and pid and process.is_zombie(pid):
        raise gdb.GdbError("process %d, inferior %d, has ended, and nothing of its job is left to read"
                           % (pid, chosen.num))
    if answer.status == 3 and not _has_mpi(chosen):
        answer.messages += ("inferior %d, process %d (%s), has no MPI library loaded: it is not a rank of a job, or "
                            "not yet\n" % (chosen.num, chosen.pid, chosen.progspace.filename))
    return answer


def color(from_tty):
    """As --color takes it.  Front ends (MI) and whoever captures the text get it plain."""
    styled = from_tty and gdb.parameter("style enabled") and sys.__stdout__ is not None
    plain = os.environ.get("TERM", "dumb") == "dumb" or os.environ.get("NO_COLOR")
    return "always" if styled and not plain and os.isatty(1) else "never"


def check(answer, name):
    """A GdbError out of an answer that is none.  One that says what could not be read is an answer."""
    if not answer.failed or answer.output:
        gdb.write(answer.messages, gdb.STDERR)
        return
    sentence = answer.messages.strip()
    raise gdb.GdbError(sentence or "%s: mpiq ended with status %d and said nothing" % (name, answer.status))


class Question(gdb.Command):
    """A command that shows what a subcommand of mpiq answers."""

    subcommand = None

    def __init__(self):
        super().__init__("mpi " + self.subcommand, gdb.COMMAND_STATUS)

    def sort(self, words):
        """The words that are no options, as (more options, what follows the subcommand, targets)."""
        return [], [], words

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        options, words = split_words(argument)
        more, follows, targets = self.sort(words)
        answer = ask(self.subcommand, ["--color", color(from_tty)] + options + more + follows, targets)
        check(answer, "mpi " + self.subcommand)
        gdb.write(answer.output)

    def complete(self, text, word):
        return gdb.COMPLETE_FILENAME
