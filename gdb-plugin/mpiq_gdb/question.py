# SPDX-License-Identifier: BSD-3-Clause
"""Questions about one process (docs/WIRE.md, "Questions"): what a handle stands for, what is in a queue,
what a message holds.  mpiq answers; nothing here knows an MPI library."""

import json

import gdb

from . import mpiq, settings


class Unanswered(Exception):
    """There is no answer; the text says why."""


def _ask(question, served, targets):
    answer = mpiq.run(["ask"] + settings.dll_options() + [json.dumps(question)] + targets, served)
    if answer.failed:
        sentence = answer.messages.strip()
        raise Unanswered(sentence[len("mpiq: "):] if sentence.startswith("mpiq: ") else sentence)
    try:
        return json.loads(answer.output)
    except ValueError:
        raise gdb.GdbError("mpiq's answer is malformed; is %s of the same version as these commands?"
                           % mpiq.find())


def of_inferior(inferior, question):
    """mpiq's answer about an inferior, as a dictionary; Unanswered, or a GdbError."""
    return _ask(question, [inferior], [])


def of_process(pid, question):
    """The same about a process of this machine that gdb has not attached."""
    return _ask(question, [], [str(pid)])
