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
  lines      the release lines and libraries (mpich) that have it (default: all)
  spawned    how many ranks are started by the program itself
  healthy    it never ends and never hangs: looked at again and again
  slow       a round of it takes seconds: whether it advances is seen only where the looks take long, too
  quick      belongs to the small part of the corpus: tests/hangs/run --part quick
  two_hosts  runs once more with its ranks on two emulated hosts
  weaker     where mpiq answers less than that, a list of tables: `lines` are the libraries, `why` says why it is
             allowed, and verdict, first and causes replace those above; `ranks`: only with so many; `open`: a defect
             that is to be mended.  Nothing else is allowed: a case whose answer is as asked must not have one.
  unrecorded where it does not come to hang, so that tests/replay has no recording of it: a list of tables with `lines`
             and `why`
  differs    where the first finding is as right as on the libraries that know as much, and another one: a list of
             tables with `lines` and `why`
"""
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import tomllib
import warnings

import recorded
from support import call_records
from support import conditions
from support import job as jobs
from support import libraries
from support import schema
from support.answers import EXIT_STATUS

HERE = pathlib.Path(__file__).resolve().parent

# A look at a small job takes far less; one that takes longer has itself hung.
LOOK_SECONDS = 60
# A hung job's answer is the same at each look; the first looks may still see it move, or not have turned round
# yet where processors are few: seconds between the two readings of each look, and of all that follow.
PAUSES_AT_HUNG = [None, None, 1, 3, 10]
HUNG_WITHIN = 20
# Seconds between the two readings of the looks at a job that does not hang.  Short ones are hard: what moves has
# little time to show it.  One look after the other: a second one would find ranks stopped by the first.
PAUSES = [None, 0.05, 0.01, 0]

# A job that does not hang has advanced by then, on a busy machine, too; a slow one while it was looked at so long.
ADVANCES_WITHIN = 120

RANKS = ("ranks", "missing", "suspects")

# What a weaker answer has beside the answer.
WEAKER_ONLY = ("lines", "why", "open", "ranks")

# What no library of a level tells, whatever the case: only a patched library and the recorder count calls.
NOT_KNOWN = {level: ("number", "last_call") for level in ("layouts", "debug info", "calls", "stacks")}

# Of our builds without the patch as much is known as of the shipped libraries: what is allowed there is allowed of them.
TOLD_AS = {"4.1-stock": {"4.1-debian"}, "5.0-stock": {"4.1-debian", "trixie:openmpi"}}

# The level at which nothing but stacks and the arguments of calls is read, so that nothing is proven: what is said
# there is held against what the recorder knows (tests/replay/calls.py).
OUTSIDE = "calls"

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
        lines = self.get("lines", ["4.1", "5.0"])
        return line.release in lines or getattr(line, "library", None) in lines

    def on_line(self, name):
        return self.on(libraries.line(name))

    def weaker(self, name):
        """What is allowed on that library instead; None: what is asked."""
        return next((entry for entry in self.get("weaker", [])
                     if {name, *TOLD_AS.get(name, ())} & set(entry["lines"]) and entry.get("ranks", self.ranks) == self.ranks), None)

    def as_asked(self, level):
        """The case with what a library of that level cannot know left out of it."""
        if level == OUTSIDE:
            verdicts = {**dict.fromkeys(self.verdicts), **dict.fromkeys(["unknown", *([] if self.healthy else ["stalled"])])}
            return dataclasses.replace(self, expected={**self.expected, "first": [], "causes": None, "verdict": [
                verdict for verdict in verdicts if verdict != "deadlock"]})
        unknown = NOT_KNOWN.get(level, ())
        firsts = [{key: value for key, value in first.items() if key not in unknown} for first in self.firsts]
        return dataclasses.replace(self, expected={**self.expected, **({"first": firsts} if firsts else {})})

    def at(self, name, level):
        """The case with what is wanted on that library, which is of that level."""
        replaced = {key: value for key, value in (self.weaker(name) or {}).items() if key not in WEAKER_ONLY}
        if not replaced:
            return self.as_asked(level)
        if "first" in replaced:
            replaced = {"causes": None, "sites": False, **replaced}
        return dataclasses.replace(self, expected={**self.expected, **replaced})


@dataclasses.dataclass
class Result:
    """What came of one run of a case on one line."""
    case: Case
    line: libraries.Line
    verdict: str = ""
    looks: int = 0
    again: int = 0 # looks after the right answer
    seconds: float = 0
    wrong_verdict: str = ""      # why, or ""
    wrong_first: str = ""        # why, or ""
    lost: tuple = ()             # what the first finding lacks of what is expected
    trouble: str = ""            # the case itself did not do what it should
    answer: dict = None          # the last one, or the one that was wrong
    misread: tuple = ()          # arguments of calls that are told otherwise than the recorder has them
    told: int = 0                # arguments and requests that are told
    requests: int = 0
    stderr: str = ""


def level_of(name, answer):
    """What kind of knowledge an answer on that library is made of."""
    return answer["job"]["source"] if libraries.proves(name) else OUTSIDE


def as_list(value):
    return value if isinstance(value, list) else [value]


def rank_set(text, size):
    """Ranks as mpiq writes them, as a set of (world, rank): "0-2,w1:0", "0-22:2"."""
    found = set()
    text = str(text)
    if text == "all":
        text = f"0-{size - 1}"
    world = 0
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"(?:w(\d+):)?(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        if not match:
            return {("?", text)}
        world = int(match[1]) if match[1] else world
        found.update((world, rank) for rank in range(int(match[2]), int(match[3] or match[2]) + 1, int(match[4] or 1)))
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
    """The program, and beside it the libraries of its own that FAMILY.d has the sources of; bare ones without -g."""
    beside = directory / line.name
    libraries = [line.compile([source], beside / f"{source.stem}.so", "-fPIC", "-shared", *(["-g0"] if "bare" in source.stem else []))
                 for source in sorted((HERE / f"{family}.d").glob("*.c"))]
    linked = ["-Wl,--no-as-needed", f"-L{beside}", *(f"-l:{library.name}" for library in libraries), "-Wl,-rpath,$ORIGIN"] if libraries else []
    return line.compile([HERE / f"{family}.c", HERE / "corpus.c"], beside / family, *linked)


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
    verdict = answer["verdict"]
    level = level_of(line.name, answer)
    allowed = list(case.at(line.name, level).verdicts) + case.as_asked(level).verdicts
    if case.healthy:
        # On a busy machine nothing may move between two readings: then nothing is known, and no alarm is right.
        allowed += ["unknown"]
    if verdict not in allowed:
        return f"verdict {verdict}, not {' or '.join(allowed)}"
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


def source_around(name, number):
    """The lines of one of our sources around that one; None: it is not ours."""
    file = HERE / name
    if not file.is_file():
        return None
    return " ".join(file.read_text(encoding="utf-8").splitlines()[max(number - 3, 0):number + 2])


def wrong_sites(finding, source=None):
    """Each site of ours has to be where its call is in the source, or at most the statement around it.  source: the
    lines around those that a recording names, as they were."""
    sites = finding.get("sites") or []
    for site in sites:
        name, number = os.path.basename(site.get("file") or ""), int(site.get("line") or 0)
        if not site.get("call") or not (HERE / name).is_file() or name == "corpus.c":
            continue
        around = source_around(name, number) if source is None else source.get(f"{name}:{number}", "")
        names = [re.sub("^P?MPIX?_", "", name)
                 for name in (site.get("call"), finding.get("collective")) if name]
        if any(name.casefold() in around.casefold() for name in names) or "WAIT_FOR_NOBODY" in around:
            continue
        return f"site {name}:{number} holds no {site.get('call')}"
    return ""


def wrong_answer(case, answer, source=None):
    """Why an answer is not what the case wants, or ""."""
    verdict = answer["verdict"]
    if verdict not in case.verdicts:
        return f"verdict {verdict}, not {' or '.join(case.verdicts)}"
    return wrong_first(case, answer, source)[0]


def wrong_first(case, answer, source=None):
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
    return "; ".join(best.values()) or case.get("sites", True) and wrong_sites(first, source) or "", lost


def run_job(result, case, line, executable, mpiq, looks_at_healthy, again):
    with jobs.Job(line, [executable, case.program], case.ranks, two_hosts=case.two_hosts) as job:
        job.wait_ready(case.ranks + case.get("spawned", 0))
        if case.healthy:
            watch_healthy(result, job, mpiq, looks_at_healthy)
        else:
            job.stand_still()
            job.step_back()
            watch_hung(result, job, mpiq)
            look_again(result, job, mpiq, again)
            if line.recorded and shutil.which("zstd"):
                compare_arguments(result, job, mpiq)


def compare_arguments(result, job, mpiq):
    """What calls were given, told from outside, against the recorder (tests/calls), at a job that is there already."""
    snapshot = job.directory / "job.mpiq"
    conditions.run([mpiq, "snapshot", "-o", snapshot, str(job.pid)], LOOK_SECONDS)
    result.misread, result.told, result.requests = call_records.differences_in(snapshot)


def run(case, line, executable, mpiq, looks_at_healthy, again=0):
    """Starts the case, looks at it and ends it. What its own MPI brings down before the first look (4.1's
    MPI_Finalize does now and then) is started once more."""
    result = Result(case, line)
    began = time.monotonic()
    try:
        try:
            run_job(result, case, line, executable, mpiq, looks_at_healthy, again)
        except jobs.NotBegun as error:
            warnings.warn(f"{case.name} is started again: {error}")
            run_job(result, case, line, executable, mpiq, looks_at_healthy, again)
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


def wrong_live_answer(case, name, answer):
    """Why the first finding is neither the one asked for nor the weaker one that is recorded for that library, or "",
    and what it lacks."""
    level = level_of(name, answer)
    wanted = case.at(name, level)
    wrong, lost = wrong_first(wanted, answer)
    wrong = wrong or recorded.difference(wanted, name, answer)
    asked = case.as_asked(level)
    if wrong and case.weaker(name) and answer["verdict"] in asked.verdicts and not wrong_first(asked, answer)[0]:
        return "", ()
    return wrong, lost


def is_last_word(result, answer):
    """Whether an answer is of a deadlock that is none, or in which all are that are to be: of some of them it may be right,
    while the others are on their way."""
    stuck = set().union(*(rank_set(rank["rank"], result.case.ranks) for rank in answer["ranks"] if rank.get("stuck")))
    return answer["verdict"] == "deadlock" and bool(result.wrong_verdict or result.case.stuck <= stuck)


def watch_hung(result, job, mpiq):
    """Looks until the answer is the recorded one, the weaker one that the case allows there, or all that it asks for.
    A job that hangs may be `running` or `unknown` only while it comes to stand still, and a deadlock is not proven by a look
    in which a rank gets no processor, so looks go on, longer ones, and the last one counts; a deadlock that is none, or of
    all that are to hang, counts at once."""
    deadline = conditions.Deadline(HUNG_WITHIN)
    for pause in itertools.chain(PAUSES_AT_HUNG, itertools.repeat(PAUSES_AT_HUNG[-1])):
        if result.looks >= len(PAUSES_AT_HUNG) and deadline.passed():
            break
        answer = judge(result, look(mpiq, job.pid, *pause_option(pause)))
        if answer is None:
            continue
        result.wrong_first, result.lost = wrong_live_answer(result.case, result.line.name, answer)
        if not result.wrong_verdict and not result.wrong_first or is_last_word(result, answer):
            break
    job.listen()
    came_out = {rank for rank in job.through if (0, rank) in result.case.stuck}
    if came_out:
        result.trouble = f"ranks {sorted(came_out)} came out of a case that is to hang"


def look_again(result, job, mpiq, times):
    """Further looks at a hung job that was answered rightly: a weaker answer passes, "running" never does."""
    if result.wrong_verdict or result.trouble or result.verdict == "running":
        return
    for i in range(times):
        answer, status, error = look(mpiq, job.pid, *pause_option(PAUSES[i % len(PAUSES)]))
        result.again += 1
        if answer is None or answer["verdict"] == "running" or status == EXIT_STATUS["running"]:
            result.wrong_verdict = (f"look {i + 1} of {times} at a job that hangs: {answer and answer['verdict']},"
                                    f" exit status {status}: {error.strip()[:600]}")
            return


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
