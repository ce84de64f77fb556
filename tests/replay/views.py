#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a finding says of a rank is what the table of ranks says of it, in every recorded case: its state, its call, its
place and whom it waits for.

Usage: tests/replay/views.py REPLAY
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "hangs")]

import corpus # noqa: E402
import expectations # noqa: E402


def key(rank):
    world, number = re.fullmatch(r"(?:w(\d+):)?(\d+)", str(rank)).groups()
    return int(world or 0), int(number)


def asked(said):
    """What it waits for, without the ranks: a line for many ranks names theirs by their own."""
    return {(part["kind"], part.get("tag"), part.get("collective")) for part in (said.get("waits_for") or {}).get("of", [])}


def differences(line, row):
    """The fields of a line of evidence that the rank's row has otherwise."""
    for field in ("state", "call"):
        if line.get(field) != row.get(field):
            yield field, line.get(field), row.get(field)
    places = [tuple((said.get("site") or {}).get(part) for part in ("file", "line", "function")) for said in (line, row)]
    if places[0] != places[1]:
        yield "site", *places
    if asked(row) and not asked(line) <= asked(row): # a finding has the part that matters to it
        yield "waits_for", asked(line), asked(row)


def with_threads():
    """The programs that call MPI from several threads: there a line may be about another one than the row."""
    found = set()
    for file in (HERE.parent / "hangs").glob("*.c"):
        found.update(re.findall(r"^CASE_THREADS\((\w+)\)", file.read_text(encoding="utf-8"), re.M))
    return found


def complaints(one):
    rows = {key(row["rank"]): row for row in one.answer["ranks"]}
    for finding in one.answer["findings"]:
        lines = {}
        for line in finding.get("evidence", []):
            for rank in corpus.rank_set(line["ranks"], one.answer["job"]["size"]):
                lines.setdefault(rank, []).append(line)
        for rank in lines.keys() & rows.keys():
            wrong = min((list(differences(line, rows[rank])) for line in lines[rank]), key=len)
            for field, said, stands in wrong:
                yield f"{one.line} {one.name}: rank {rank}: {field}: {finding['kind']} says {said}, the ranks {stands}"


def main():
    threads = with_threads()
    programs = {case.name: case.program for case in corpus.load()}
    recorded = [one for one in expectations.replayed(sys.argv[1]) if programs.get(one.name) not in threads]
    found = [text for one in recorded for text in complaints(one)]
    print("\n".join(found))
    print(f"{len(recorded)} recordings, {len(found)} complaints")
    sys.exit(bool(found) or not recorded)


if __name__ == "__main__":
    main()
