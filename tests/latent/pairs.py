#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pairs.py: every pair of collectives in swapped order, under `mpiq run --strict --check`.

    MPIQ=build/cli/mpiq tests/latent/pairs.py --all            all pairs, kinds, libraries and numbers of ranks
    MPIQ=build/cli/mpiq tests/latent/pairs.py bcast reduce     one pair

Each pair runs in a job of its own, in which the odd ranks make the two calls in the other order.  mpiq must name both
calls, each with its own place.  All pairs in the right order run in one job, of which nothing may be said.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent)) # as pytest.ini has it

from support import conditions # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["mpich", "openmpi"]
KINDS = ["blocking", "nonblocking", "persistent"]
ANSWER = "answer.json"
FOUND = (123, 124) # exit statuses: a hang that was ended, an error that the check found


def compile_pairs(library, folder):
    program = pathlib.Path(folder) / f"pairs-{library}"
    subprocess.run([f"mpicc.{library}", "-g", "-O1", "-w", "-o", program, HERE / "pairs.c"], check=True)
    return program


def names_of(program, kind):
    return subprocess.run([program, "names", kind], capture_output=True, text=True, check=True).stdout.split()


def run(library, program, ranks, *words, options=("--strict", "--check")):
    """Status and output of one job in a pid namespace of its own."""
    with tempfile.TemporaryDirectory(prefix="mpiq-pairs-") as folder:
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder}
        many = ["--oversubscribe"] if library == "openmpi" else []
        done = conditions.run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", os.environ["MPIQ"],
                               "run", *options, "--", f"mpirun.{library}", *many, "-n", str(ranks), program, *words],
                              seconds=300, env=environment, cwd=folder)
        written = pathlib.Path(folder, ANSWER)
        answer = written.read_text(encoding="utf-8") if written.exists() else ""
    return done.returncode, answer or done.stdout + done.stderr


def function_of(name, kind):
    """The function of pairs.c that makes the call."""
    special = {("comm_dup", "blocking"): "make", ("comm_split", "blocking"): "split_it",
               ("comm_dup", "nonblocking"): "idup_it"}
    prefix = {"blocking": "blocking_", "nonblocking": "start_", "persistent": "init_"}[kind]
    return special.get((name, kind), prefix + name)


def wrong_with_swapped(library, program, ranks, pair, kind):
    """What is wrong with the answer about a swapped pair; None: nothing."""
    status, text = run(library, program, ranks, *pair, kind, "swapped", options=("--strict", "--check", "--json-to", ANSWER))
    if status not in FOUND or not text.startswith("{"):
        return f"exit status {status}\n{text}"
    report = json.loads(text)
    cause = report["findings"][0]
    if cause["kind"] != "collective_mismatch" or cause["communicator"] != "ring":
        return f"the cause is not that calls differ\n{cause['text']}"
    functions = {site.get("function") for site in cause["sites"]}
    missing = [name for name in pair if function_of(name, kind) not in functions]
    return f"does not name the place of {', '.join(missing)}\n{cause['text']}" if missing else None


def wrong_with_right(library, program, ranks, kind):
    """What is wrong with the answer about all pairs in the right order; None: nothing."""
    status, text = run(library, program, ranks, "all", kind)
    return None if status == 0 and "mpiq: check: no errors" in text else f"exit status {status}\n{text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="two collectives, as pairs.c names them")
    parser.add_argument("--all", action="store_true", help="all pairs")
    parser.add_argument("--ranks", default="2,3,4", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--library", action="append", choices=LIBRARIES, help="default: both")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all that the library has")
    parser.add_argument("--every", type=int, default=1, help="only each n-th of the pairs")
    parser.add_argument("--at-once", type=int, default=3, help="jobs at a time (default: %(default)s)")
    options = parser.parse_args()
    if not options.all and len(options.names) != 2:
        parser.error("name two collectives, or give --all")
    failed = False
    for library in options.library or LIBRARIES:
        folder = tempfile.mkdtemp(prefix="mpiq-pairs-")
        program = compile_pairs(library, folder)
        for kind, ranks in itertools.product(options.kind or KINDS, map(int, options.ranks.split(","))):
            names = names_of(program, kind)
            pairs = list(itertools.combinations(names, 2)) if options.all else [tuple(options.names)]
            pairs = [pair for pair in pairs if set(pair) <= set(names)][::options.every]
            if not pairs:
                continue
            right = wrong_with_right(library, program, ranks, kind)
            with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
                answers = list(pool.map(lambda pair: wrong_with_swapped(library, program, ranks, pair, kind), pairs))
            reasons = collections.Counter(answer.split("\n")[0] for answer in answers if answer)
            print(f"{library:8} {kind:12} {ranks} ranks: {answers.count(None)} of {len(pairs)} swapped pairs reported; "
                  f"all pairs in the right order: {'accused' if right else 'not accused'}", flush=True)
            for pair, answer in zip(pairs, answers):
                if answer:
                    print(f"  {' '.join(pair)}: {answer}", flush=True)
            if right:
                print(f"  in the right order: {right}", flush=True)
            for reason, count in reasons.items():
                print(f"  {count} times: {reason}", flush=True)
            failed = failed or bool(reasons) or right is not None
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
