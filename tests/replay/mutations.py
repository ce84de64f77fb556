#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks the diagnosis, one rule at a time, and sees that the recorded answers notice, without any other test: those
of programs, and those of made states (made/states.txt).

Usage: mutations.py SOURCE BUILD [--job] [NAME...]: names of the rules to try, by a part of them.

Without --job: the first two findings swapped, a line of evidence dropped, and another suspect named by each finder
that has an answer in the recordings.  --job: the rules of tests/job/mutations.py.
"""
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DIAGNOSE = "lib/job/diagnose.c"
CALL = "(ended ? after_end : at ? at_end : finders)[i](&analysis);"
ENTRY = "struct mpiq_error *mpiq_diagnose("

FINDERS = ("collectives", "messages", "cycles", "truncations", "overlaps", "windows", "polling", "ranks", "stacks",
           "leftovers")

# Names of every finding from `before` on the rank after its first suspect, or after its first rank.
RENAME = """
static void name_another(struct mpiq_analysis *analysis, size_t before)
{
    for (size_t i = before; i < analysis->diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        const struct mpiq_rank_set *from = finding->suspects.count > 0 ? &finding->suspects : &finding->ranks;
        if (from->count == 0)
            continue;
        uint32_t world = from->ranges[0].world, size = analysis->job->worlds[world].size;
        uint32_t rank = (from->ranges[0].first + 1) % size;
        mpiq_rank_set_deinit(&finding->suspects);
        finding->suspects = (struct mpiq_rank_set){0};
        mpiq_rank_set_add(&finding->suspects, world, rank);
    }
}
"""
SWAP = """
static void swap(struct mpiq_diagnosis *diagnosis)
{
    if (diagnosis->finding_count < 2)
        return;
    struct mpiq_finding first = diagnosis->findings[0];
    diagnosis->findings[0] = diagnosis->findings[1];
    diagnosis->findings[1] = first;
}
"""
DROP = """
static void drop(struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = diagnosis->finding_count; i-- > 0;) {
        if (diagnosis->findings[i].evidence_count > 1) {
            diagnosis->findings[i].evidence_count--;
            return;
        }
    }
}
"""


def own_mutations(source):
    """(rule, path, text) of our own, all in the one function that calls every finder."""
    text = (source / DIAGNOSE).read_text()

    def broken(function, call):
        assert text.count(CALL) == 1 and text.count(ENTRY) == 1, f"{DIAGNOSE} has changed"
        return text.replace(ENTRY, function + ENTRY).replace(CALL, "{" + call + "}")

    before_verdict = "if (!ended && !at && finders[i] == mpiq_find_verdict) %s(diagnosis); " + CALL
    yield "two findings swapped", DIAGNOSE, broken(SWAP, before_verdict % "swap")
    yield "a line of evidence dropped", DIAGNOSE, broken(DROP, before_verdict % "drop")
    for finder in FINDERS:
        assert f"mpiq_find_{finder}," in text, f"{DIAGNOSE} has no finder of {finder}"
        yield f"another suspect: {finder}", DIAGNOSE, broken(
            RENAME, f"size_t before = diagnosis->finding_count; {CALL} "
            f"if (!ended && !at && finders[i] == mpiq_find_{finder}) name_another(&analysis, before);")


def job_mutations(source):
    """Those of tests/job."""
    spec = importlib.util.spec_from_file_location("job_mutations", source / "tests/job/mutations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for rule, path, old, new in module.MUTATIONS:
        text = (source / path).read_text()
        if text.count(old) == 1:
            yield rule, path, text.replace(old, new)
        else:
            print(f"{rule}: {path} has the text to replace {text.count(old)} times, not once", flush=True)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, errors="replace")


class Mutants:
    """The program that replays, made anew with a broken file in front of the libraries."""

    def __init__(self, source, build, work):
        self.work = work
        self.flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-w", f"-I{source}/include", f"-I{source}/lib"]
        ninja = (build / "build.ninja").read_text()
        linked = re.search(r"^build tests/replay/replay:.*\n LINK_ARGS = (.*)$", ninja, re.M)[1].split()
        self.libraries = [*[str(path) for path in sorted(build.glob("tests/replay/replay.p/*.o"))],
                          *[str(build / word) if word.endswith(".a") else word for word in linked]]
        self.recorded = [(HERE / "recorded", HERE / "answers"), (HERE / "made/states", HERE / "made/answers")]

    def make(self, what, *arguments):
        made = run(["cc", *self.flags, *arguments])
        if made.returncode != 0:
            raise RuntimeError(f"{what} cannot be made:\n{made.stderr}")

    def noticed(self, number, rule, path, text):
        """How many cases have another answer; -1: the program did not come to its end."""
        own = self.work / str(number)
        own.mkdir()
        mutant, program = own / pathlib.Path(path).name, own / "replay"
        mutant.write_text(text)
        self.make(rule, "-c", "-o", f"{mutant}.o", str(mutant))
        self.make(rule, "-o", str(program), f"{mutant}.o", *self.libraries)
        counts = [re.search(r"(\d+) cases with another answer", run([str(program), *map(str, paths)]).stdout)
                  for paths in self.recorded]
        program.unlink()
        return sum(int(count[1]) for count in counts) if all(counts) else -1


def main():
    source, build, *words = sys.argv[1:]
    source, build = pathlib.Path(source).resolve(), pathlib.Path(build).resolve()
    job = "--job" in words
    wanted = [word for word in words if word != "--job"]
    mutations = [one for one in (job_mutations if job else own_mutations)(source)
                 if not wanted or any(part in one[0] for part in wanted)]
    unnoticed = []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        mutants = Mutants(source, build, pathlib.Path(work))
        counts = threads.map(lambda one: mutants.noticed(one[0], *one[1]), enumerate(mutations))
        for (rule, _, _), count in zip(mutations, counts):
            print(f"{rule}: {count if count >= 0 else 'a crash, or an error'}"
                  f"{' cases with another answer' if count > 0 else ': UNNOTICED' if count == 0 else ''}", flush=True)
            if count == 0:
                unnoticed.append(rule)
    print(f"{len(mutations)} rules broken, {len(unnoticed)} not noticed by the recorded answers")
    return bool(unnoticed)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
