# SPDX-License-Identifier: BSD-3-Clause
"""What the recordings of tests/replay say about a case: a live look has to say the same."""
import functools
import os
import pathlib
import subprocess
import json

from support.built import built

RECORDED = pathlib.Path(__file__).resolve().parent.parent / "replay" / "recorded"

# What of the first finding has to be as recorded.  Its sentence has times in it, its lines move with the source.
FIELDS = ("kind", "ranks", "missing", "suspects", "collective", "communicator", "field")


@functools.cache
def answers(line):
    """The recorded answers of a library: {case: answer}."""
    done = subprocess.run([built("tests/replay/replay"), "--json", RECORDED, line.replace(":", "_")],
                          stdout=subprocess.PIPE, check=True)
    words = (text.split(" ", 4) for text in done.stdout.decode(errors="surrogateescape").splitlines())
    return {name: json.loads(answer) for _, name, _, _, answer in words}


def places(finding):
    return {(os.path.basename(site.get("file") or ""), site.get("function"), site.get("call"))
            for site in finding.get("sites", [])}


def difference(case, line, answer):
    """How an answer differs from the recorded one, or "".  Where the case allows several first findings or verdicts,
    which of them it is may depend on the moment."""
    known = answers(line).get(case.name.removesuffix("@two_hosts"))
    if known is None or len(case.firsts) > 1 or len(case.verdicts) > 1 or case.healthy:
        return ""
    if known["verdict"] != answer["verdict"]:
        return f"verdict {answer['verdict']}, recorded {known['verdict']}"
    if not case.firsts or not known["findings"]:
        return ""
    if not answer["findings"]:
        return "no finding, unlike the recorded answer"
    first, other = answer["findings"][0], known["findings"][0]
    for field in FIELDS:
        if first.get(field) != other.get(field):
            return f"{field} {first.get(field)!r}, recorded {other.get(field)!r}"
    if places(first) != places(other):
        return f"sites {sorted(map(str, places(first)))}, recorded {sorted(map(str, places(other)))}"
    return ""
