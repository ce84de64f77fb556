#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a job of which stacks and the arguments of calls alone were read, held against what the recorder
knows of the same program on the same library.

Usage: tests/replay/calls.py REPLAY: says what is wrong.

Each hanging case is one of

  equal    every rank of the recorder's first finding is in the same call and waits for the same: peers, tags, and of
           a collective its name
  weaker   some of that is not said, and nothing else
  none     of no such rank the call is said
  wrong    another call, peer, tag or communicator, a suspect that the recorder does not name, or a verdict that says
           more than the recorder's
"""
import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "hangs")]

import corpus # noqa: E402
import expectations # noqa: E402

# A library of which nothing but stacks and arguments is read, and the same one under the recorder.
RECORDERS = {"mpich": "mpich+record", "openmpi+ucx": "openmpi+ucx+record", "openmpi+ofi": "openmpi+ofi+record"}
GRADES = ("equal", "weaker", "none", "wrong")
# What the two may know of a part of a wait.
FIELDS = ("peer", "tag", "collective", "communicator")
# Where the members of a collective differ in an argument, what its callers gave for it.
ARGUMENTS = {"bytes": "count", "op": "op", "root": "root"}

# What may be missing where it is said who waits for whom.
BESIDES = {"tag", "communicator", *ARGUMENTS.values()}

Grade = collections.namedtuple("Grade", "grade why")


def says_who_waits(seen):
    """Whether calls, peers and collectives are the recorder's."""
    return seen.grade == "equal" or seen.grade == "weaker" and set(seen.why.split(", ")) <= BESIDES


def world_rank(text):
    """A rank of the first world as a number."""
    return int(text) if str(text).lstrip("-").isdigit() else text


def parts(rank):
    """What a rank waits for: the parts that are the program's own, and not the library's."""
    return [part for part in (rank.get("waits_for") or {}).get("of", []) if not part.get("internal")]


def compare_parts(told, known):
    """(wrong, lacking) of one part of a wait against the recorder's."""
    wrong, lacking = [], []
    for field in FIELDS:
        if field not in known or field == "collective" and known["kind"] != "collective":
            continue
        if field not in told:
            lacking.append(field)
        elif world_rank(told[field]) != world_rank(known[field]):
            wrong.append(f"{field} {told[field]}, recorded {known[field]}")
    return wrong, lacking


def is_same_place(told, known):
    """Whether a rank is in the same function of the program's, outside MPI."""
    return not known.get("call") and told.get("site", {}).get("function") == known.get("site", {}).get("function")


def compare_ranks(told, known):
    """(wrong, lacking) of one rank against the recorder's."""
    if not told.get("call"):
        return [], [] if is_same_place(told, known) else ["call"]
    if told["call"] != known.get("call"):
        return [f"in {told['call']}, recorded {known.get('call') or known['state']}"], []
    wrong, lacking = [], []
    # Requests of which only the number and their makers are told may be anything.
    said, recorded = [part for part in parts(told) if part["kind"] != "request"], parts(known)
    if not said: # such a call says by its name what it is
        said = [{"kind": "collective", "collective": part["collective"]} for part in recorded
                if part["kind"] == "collective" and part.get("collective") == told["call"]]
    for part in recorded:
        alike = [compare_parts(one, part) for one in said if one["kind"] == part["kind"]]
        if not alike:
            lacking.append(part["kind"])
            continue
        best = min(alike, key=lambda found: (len(found[0]), len(found[1])))
        wrong += best[0]
        lacking += best[1]
    if recorded and not (known.get("waits_for") or {}).get("more"):
        # A call that sends and receives may have done the one of them.
        wrong += [f"waits for a {part['kind']}, recorded {', '.join(one['kind'] for one in recorded)}" for part in said
                  if not {part["kind"]} & {one["kind"] for one in recorded} and len(said) < 2]
    return wrong, lacking


def grade(case, told, known):
    """How the answer `told` compares to the recorder's."""
    if told["verdict"] == "deadlock" or told["verdict"] == "running" != known["verdict"]:
        return Grade("wrong", f"verdict {told['verdict']}, recorded {known['verdict']}")
    first = known["findings"][0]
    concerned = set()
    for text in (first.get("ranks"), first.get("missing"), first.get("suspects"),
                 *(line.get("ranks") for line in first.get("evidence", []))):
        concerned |= corpus.rank_set(text or "", case.ranks)
    by_rank = {answer: {(one.get("world", 0), one["rank"]): one for one in of["ranks"]}
               for answer, of in (("told", told), ("known", known))}
    wrong, lacking, named = [], [], False
    for rank in sorted(concerned & by_rank["known"].keys()):
        mine = by_rank["told"].get(rank, {})
        named = named or bool(mine.get("call")) or is_same_place(mine, by_rank["known"][rank])
        one_wrong, one_lacking = compare_ranks(mine, by_rank["known"][rank])
        wrong += [f"rank {rank[1]}: {reason}" for reason in one_wrong]
        lacking += one_lacking
    argument = ARGUMENTS.get(first.get("field"))
    if argument and not all(any(argument in part for part in parts(by_rank["told"].get(rank, {})))
                            for rank in concerned & by_rank["known"].keys()):
        lacking.append(argument)
    suspects = corpus.rank_set((told["findings"] or [{}])[0].get("suspects") or "", case.ranks)
    if suspects - corpus.rank_set(first.get("suspects") or "", case.ranks):
        wrong.append(f"suspects {told['findings'][0]['suspects']}, recorded {first.get('suspects')}")
    if wrong:
        return Grade("wrong", "; ".join(wrong))
    if not named:
        return Grade("none", "no call is known")
    counted = collections.Counter(lacking)
    return Grade("weaker", ", ".join(counted)) if counted else Grade("equal", "")


def grades(recorded, cases):
    """{(case, library): Grade} of the hanging cases; recorded: all recorded answers."""
    answers = {(one.name, one.line): one.answer for one in recorded}
    found = {}
    for line, recorder in RECORDERS.items():
        for case in cases:
            told, known = answers.get((case.name, line)), answers.get((case.name, recorder))
            if told and known and case.firsts and known["findings"]:
                found[case.name, line] = grade(case, told, known)
    return found


def complaints(recorded, cases):
    """What is wrong: nothing may be."""
    for (name, line), found in grades(recorded, cases).items():
        if found.grade == "wrong":
            yield f"{line} {name}: {found.why}"


if __name__ == "__main__":
    for (of, on), seen in grades(expectations.replayed(sys.argv[1]), corpus.load()).items():
        print(f"{on} {of}: {seen.grade}{': ' + seen.why if seen.why else ''}")
