#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""include_folders.py: fails if a C file includes what its folder may not use.

The rules are those of docs/ARCHITECTURE.md: which folders each folder may use, and of some folders the few headers
that are for others.  A NAME_private.h is for its own folder alone.
"""

import pathlib
import sys

from include_circles import c_includes

LIB = {"lib/" + name for name in ("base", "names", "state", "words", "merge", "process", "rank", "job", "report", "hosts", "session", "trace")}

# What each folder may use: folders, or single headers of include/.
MAY_USE = {
    "include": set(),
    "recorder": {"include/mpiq_record.h"},
    "mqs": {"include/mpi_interface.h"},
    "mqs/ompi": {"mqs", "include/mpi_interface.h", "include/mqs_extensions.h", "include/ompi_mqs.h"},
    "mqs/recorder": {"mqs", "include/mqs_extensions.h", "include/mpiq_record.h"},
    "lib/base": set(),
    "lib/names": {"lib/base"},
    "lib/state": {"lib/base", "lib/names", "include/ompi_mqs.h", "include/mpiq_record.h"},
    "lib/words": {"lib/base", "lib/state"},
    "lib/merge": {"lib/base", "lib/names", "lib/state", "include/mpiq_record.h"},
    "lib/process": {"lib/base"},
    "lib/rank": {"lib/base", "lib/names", "lib/state", "lib/process", "include/ompi_mqs.h", "include/mpiq_record.h"},
    "lib/rank/helper": {"lib/base", "lib/state", "lib/process", "lib/rank", "include/mqs_extensions.h"},
    "lib/rank/reader": {"lib/base", "lib/state", "lib/process", "lib/rank"},
    "lib/job": {"lib/base", "lib/names", "lib/state"},
    "lib/trace": {"lib/base", "lib/state", "include/mpiq_record.h"},
    "lib/trace/reader": {"lib/base", "lib/state", "lib/process", "lib/rank", "lib/trace"},
    "lib/trace/writer": {"lib/base", "lib/merge", "lib/state", "lib/trace"},
    "lib/report": {"lib/base", "lib/state", "lib/words", "include/mpiq.h"},
    "lib/hosts": {"lib/base", "lib/names", "lib/state"},
    "lib/session": LIB | {"include/mpiq.h", "include/mpiq_record.h"},
    "cli": {"lib/names", "include/mpiq.h"},
    "ompi-patch/src/ompi/mqs": set(),
}

# The headers that are for other folders; of a folder that is not here all are, but the private ones.
FOR_OTHERS = {
    # What folds a million ranks into lines is behind snapshot.h.
    "lib/state": {"arena.h", "budget.h", "calls.h", "fact.h", "finding.h", "group_hash.h", "job_state.h", "late.h", "place.h", "rank_set.h",
                  "rank_state.h", "snapshot.h", "stack_tree.h"},
    "lib/process": {"core_end.h", "mappings.h", "object.h", "peer.h", "pipe.h", "serve.h", "symbols.h", "target.h", "wire.h"},
    "lib/rank/helper": set(),
    "lib/rank/reader": set(),
    "lib/trace/reader": set(),
    "lib/trace/writer": set(),
    "lib/job": {"diagnose.h", "diagnose_options.h", "past_messages.h"},
    "lib/report": {"late.h", "report.h", "step.h"},
    "lib/hosts": {"collector.h", "collector_args.h", "collectors.h", "launcher.h"},
    "lib/session": set(),
}


def complaint(path, target):
    """What is wrong with that include; None: nothing."""
    folder, other = str(path.parent), str(target.parent)
    if folder == other:
        return None
    if folder not in MAY_USE:
        return "%s has no rule here" % folder
    if not {other, str(target)} & MAY_USE[folder]:
        return "%s may not use %s" % (folder, target if other == "include" else other)
    if target.stem.endswith("_private") or target.name not in FOR_OTHERS.get(other, {target.name}):
        return "it is for %s alone" % other
    return None


def main():
    count, failed = 0, False
    for path, targets in c_includes():
        for target in targets:
            count += 1
            wrong = complaint(path, pathlib.Path(target))
            if wrong:
                print("%s includes %s: %s" % (path, target, wrong))
                failed = True
    if count < 1000:
        sys.exit("include_folders: found hardly any include: is the repository complete?")
    sys.exit(failed)


if __name__ == "__main__":
    main()
