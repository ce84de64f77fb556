# SPDX-License-Identifier: BSD-3-Clause
"""The corpus: what its cases are, one run of a case, and whether mpiq's answer is right.

A family's .toml file has a table for each case of its .c file, over the family's [defaults]:

  ranks      how many; a list makes one case for each number
  verdict    what mpiq says, or a list of what it may say
  first      the first finding: the fields that matter, each a value or a list of values that will do; a list of
             such tables where more than one finding explains the hang.  Rank ranges are compared as sets, "all"
             is all ranks; `call` has to be among the calls of the finding's sites, and
             `last_call` is what ranks outside MPI were in last.
  causes     how many findings are causes, and not consequences of one (default: not looked at)
  stuck      the ranks that must not come out of their case (default: all but `through`)
  through    the ranks that may, before the others hang
  lines      the release lines that have it (default: all)
  spawned    how many ranks are started by the program itself
  healthy    it never ends and never hangs: looked at again and again
  slow       a round of it takes seconds: whether it advances is seen only where the looks take long, too
  quick      belongs to the small part of the corpus: tests/hangs/run --part quick
  two_hosts  runs once more with its ranks on two emulated hosts
"""
import dataclasses
import itertools
import json
import os
import pathlib
import re
import subprocess
import time
import tomllib
import warnings

from support import conditions
from support import job as jobs
from support import libraries
from support import schema
from support.answers import EXIT_STATUS

HERE = pathlib.Path(__file__).resolve().parent

# A look at a small job takes far less; one that takes longer has itself hung.
LOOK_SECONDS = 60
# A hung job's answer is the same at each look; the first looks may still see it move, or not have turned round
# yet where processors are few: seconds between the two readings of each look.
PAUSES_AT_HUNG = [None, None, 1, 3, 10]
# Seconds between the two readings of the looks at a job that does not hang.  Short ones are hard: what moves has
# little time to show it.  One look after the other: a second one would find ranks stopped by the first.
PAUSES = [None, 0.05, 0.01, 0]

# Where a hang cannot be proven, it is "stalled" after --stall-after; so long for it here.
LATER = 2

# A job that does not hang has advanced by then, on a busy machine, too; a slow one while it was looked at so long.
ADVANCES_WITHIN = 120

RANKS = ("ranks", "missing", "suspects")

# What came of the runs of this session, in order.
results = []


@dataclasses.dataclass(frozen=True)
class Case:
    """One program with its number of ranks, and what is expected of it."""
    family: str
    program: str
    ranks: int
    name: str
    expected: dict = dataclasses.field(hash=False)
    two_hosts: bool = False

    def get(self, key, default=None):
        return self.expected.get(key, default)

    @property
    def verdicts(self):
        return as_list(self.expected["verdict"])

    @property
    def firsts(self):
        return as_list(self.get("first", []))

    @property
    def healthy(self):
        return self.get("healthy", False)

    @property
    def stuck(self):
        """Ranks that never come out of their case."""
        if "stuck" in self.expected:
            return rank_set(self.expected["stuck"], self.ranks)
        return rank_set("all", self.ranks) - rank_set(self.get("through", ""), self.ranks)

    def on(self, line):
        return line.release in self.get("lines", ["4.1", "5.0"])


@dataclasses.dataclass
class Result:
    """What came of one run of a case on one line."""
    case: Case
    line: libraries.Line
    verdict: str = ""
    looks: int = 0
    seconds: float = 0
    wrong_verdict: str = ""      # why, or ""
    wrong_first: str = ""        # why, or ""
    lost: tuple = ()             # what the first finding lacks of what is expected
    later: str = ""              # of a weaker verdict: what it is once nothing has moved for LATER seconds
    trouble: str = ""            # the case itself did not do what it should
    answer: dict = None          # the last one, or the one that was wrong
    stderr: str = ""


def as_list(value):
    return value if isinstance(value, list) else [value]


def rank_set(text, size):
    """Ranks as mpiq writes them, as a set of (world, rank): "0-2,w1:0"."""
    found = set()
    text = str(text)
    if text == "all":
        text = f"0-{size - 1}"
    world = 0
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"(?:w(\d+):)?(\d+)(?:-(\d+))?", part.strip())
        if not match:
            return {("?", text)}
        world = int(match[1]) if match[1] else world
        found.update((world, rank) for rank in range(int(match[2]), int(match[3] or match[2]) + 1))
    return found


def load():
    """All cases, in the order of the files."""
    cases = []
    for file in sorted(HERE.glob("*.toml")):
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        defaults = tables.pop("defaults")
        for program, table in tables.items():
            expected = {**defaults, **table}
            sizes = as_list(expected["ranks"])
            for size, two_hosts in itertools.product(sizes, [False, True]):
                if two_hosts and not (expected.get("two_hosts") and size == sizes[0]):
                    continue
                name = program + (f"_{size}" if len(sizes) > 1 else "") + ("@two_hosts" if two_hosts else "")
                cases.append(Case(file.stem, program, size, name, expected, two_hosts))
    return cases


def families():
    return sorted({case.family for case in load()})


def compile_family(line, family, directory):
    return line.compile([HERE / f"{family}.c", HERE / "corpus.c"], directory / line.name / family)


def look(mpiq, pid, *arguments):
    """One answer of mpiq's, which has to fit the schema: (answer or None, exit status, stderr)."""
    try:
        done = conditions.run([mpiq, "--json", *arguments, str(pid)], LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return None, None, f"mpiq did not answer within {LOOK_SECONDS} s"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return None, done.returncode, f"no JSON: {done.stdout[:300]!r} {done.stderr}"
    wrong = schema.misfit(answer)
    return (None if wrong else answer), done.returncode, wrong or done.stderr


def wrong_verdict(case, line, answer, status):
    """Why the verdict is wrong, or ""."""
    verdict = answer.get("verdict")
    allowed = list(case.verdicts)
    if not line.patched:
        # What only the patch keeps cannot be known: that may be said, a hang must not be made up.
        allowed += ["running", "unknown"]
    if case.healthy:
        # On a busy machine nothing may move between two readings: then nothing is known, and no alarm is right.
        allowed += ["unknown"]
    if verdict not in allowed:
        return f"verdict {verdict}, not {' or '.join(case.verdicts)}"
    if status != EXIT_STATUS[verdict]:
        return f"exit status {status} with verdict {verdict}"
    return ""


def wrong_field(key, expected, finding, case):
    """Why one field of a finding is not as expected, or ""."""
    if key == "call":
        found = [site.get("call") for site in finding.get("sites", [])]
        return "" if any(call in found for call in as_list(expected)) else f"calls {found}, not {expected}"
    if key == "last_call":
        found = [line["last_mpi_call"].get("call") for line in finding.get("evidence", []) if "last_mpi_call" in line]
        return "" if any(call in found for call in as_list(expected)) else f"last calls {found}, not {expected}"
    found = finding.get(key)
    if key in RANKS:
        if found is not None and any(rank_set(found, case.ranks) == rank_set(one, case.ranks)
                                     for one in as_list(expected)):
            return ""
    elif found in as_list(expected):
        return ""
    return f"{key} {found!r}, not {expected!r}"


def wrong_sites(finding):
    """Each site of ours has to be where its call is in the source, or at most the statement around it."""
    sites = finding.get("sites") or []
    for site in sites:
        file = HERE / os.path.basename(site.get("file") or "")
        if not site.get("call") or not file.is_file() or file.name == "corpus.c":
            continue
        text = file.read_text(encoding="utf-8").splitlines()
        number = int(site.get("line") or 0)
        around = " ".join(text[max(number - 3, 0):number + 2])
        names = [re.sub("^P?MPIX?_", "", name)
                 for name in (site.get("call"), finding.get("collective")) if name]
        if any(name.casefold() in around.casefold() for name in names) or "WAIT_FOR_NOBODY" in around:
            continue
        return f"site {file.name}:{number} holds no {site.get('call')}"
    return ""


def wrong_first(case, answer):
    """Why the first finding does not name the fault, or "", and what it lacks of what is expected."""
    if not case.firsts:
        return "", ()
    findings = answer.get("findings") or []
    if not findings:
        return "no finding", ("finding",)
    first = findings[0]
    causes = [finding for finding in findings if finding.get("consequence_of") is None]
    wanted = case.get("causes")
    if wanted is not None and len(causes) != wanted:
        return f"{len(causes)} causes: " + "; ".join(finding.get("text", "") for finding in causes), ("causes",)
    best = None
    for expected in case.firsts:
        wrong = {key: wrong_field(key, value, first, case) for key, value in expected.items()}
        wrong = {key: reason for key, reason in wrong.items() if reason}
        if best is None or len(wrong) < len(best):
            best = wrong
    lost = tuple(sorted(best)) + (() if "since" in first else ("time",))
    return "; ".join(best.values()) or wrong_sites(first), lost


def run_job(result, case, line, executable, mpiq, looks_at_healthy):
    with jobs.Job(line, [executable, case.program], case.ranks, two_hosts=case.two_hosts) as job:
        job.wait_ready(case.ranks + case.get("spawned", 0))
        if case.healthy:
            watch_healthy(result, job, mpiq, looks_at_healthy)
        else:
            job.stand_still()
            job.step_back()
            watch_hung(result, job, mpiq)


def run(case, line, executable, mpiq, looks_at_healthy):
    """Starts the case, looks at it and ends it. What its own MPI brings down before the first look (4.1's
    MPI_Finalize does now and then) is started once more."""
    result = Result(case, line)
    began = time.monotonic()
    try:
        try:
            run_job(result, case, line, executable, mpiq, looks_at_healthy)
        except jobs.NotBegun as error:
            warnings.warn(f"{case.name} is started again: {error}")
            run_job(result, case, line, executable, mpiq, looks_at_healthy)
    except jobs.JobError as error:
        result.trouble = str(error)
    result.seconds = time.monotonic() - began
    return result


def judge(result, seen):
    """Takes in what one look gave; the answer or None."""
    answer, status, result.stderr = seen
    result.looks += 1
    result.answer = answer
    if answer is None:
        result.wrong_verdict = f"no answer (exit status {status}): {result.stderr.strip()[:600]}"
        result.wrong_first = "no answer"
        return None
    result.verdict = answer["verdict"]
    result.wrong_first = ""
    result.wrong_verdict = wrong_verdict(result.case, result.line, answer, status)
    return answer


def pause_option(pause):
    return [] if pause is None else ["--pause", str(pause)]


def verdict_later(job, mpiq):
    for _ in range(3):
        time.sleep(LATER)
        answer, _, _ = look(mpiq, job.pid, "--stall-after", str(LATER))
        verdict = answer["verdict"] if answer else ""
        if verdict == "stalled":
            break
    return verdict


def watch_hung(result, job, mpiq):
    # Where less is known, a weaker verdict may be the last word; where only stacks are, it is.
    looks = len(PAUSES_AT_HUNG) if result.line.patched else 3 if result.line.proves else 1
    for pause in PAUSES_AT_HUNG[:looks]:
        answer = judge(result, look(mpiq, job.pid, *pause_option(pause)))
        if answer is None:
            continue
        result.wrong_first, result.lost = wrong_first(result.case, answer)
        # One that may be running is that also while it still starts; then nobody waits for anybody yet.
        right = not result.wrong_verdict and result.verdict in result.case.verdicts
        if right and (not result.wrong_first or result.verdict != "running"):
            break
        if result.verdict in ("deadlock", "stalled"):
            break
    if result.line.proves and result.case.firsts and result.answer and result.verdict not in result.case.verdicts:
        result.later = verdict_later(job, mpiq)
    job.listen()
    came_out = {rank for rank in job.through if (0, rank) in result.case.stuck}
    if came_out:
        result.trouble = f"ranks {sorted(came_out)} came out of a case that is to hang"


def advances(job, before, deadline):
    """Whether the ranks have counted on, by then at the latest."""
    while job.progress() == before and job.process.poll() is None and not deadline.passed():
        time.sleep(0.05)
    return job.progress() != before


def watch_healthy(result, job, mpiq, looks, within=ADVANCES_WITHIN):
    before, deadline = job.progress(), conditions.Deadline(within)
    for i in range(looks):
        pause = PAUSES[i % len(PAUSES)]
        judge(result, look(mpiq, job.pid, *pause_option(pause)))
        if result.wrong_verdict:
            break
    too_short = result.case.get("slow") and not deadline.passed()
    advanced = result.wrong_verdict or too_short or advances(job, before, deadline)
    if job.process.poll() is not None:
        result.trouble = f"the job ended with {job.process.returncode} while mpiq looked at it:\n{job.output()}"
    elif not advanced:
        result.trouble = "the job made no progress while mpiq looked at it"
