# SPDX-License-Identifier: BSD-3-Clause
"""One list of commands and options: help, the man page, gdb and the completions of three shells show the same."""
import os
import pathlib
import pty
import re
import select
import shutil

import pytest

from support.answers import ROOT, Mpiq
from support.conditions import Deadline, run

SECONDS = 120
SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture(name="tool", scope="module")
def _tool(mpiq):
    return Mpiq(mpiq)


@pytest.fixture(scope="module")
def overview(tool):
    """(commands, options) that mpiq help lists: words, and names with -o beside --output."""
    answer = tool("help")
    assert (answer.status, answer.err) == (0, "")
    commands, options = [part.splitlines() for part in answer.out.split("\n\n")[2:4]]
    words = [line.split()[0] for line in commands if re.match(r"  \S", line)]
    names = [name for line in options if re.match(r"  -", line) for name in re.findall(r"(?<![\w=-])--?[\w-]+", line[:25])]
    assert len(words) > 10 and len(names) > 20
    return words, names


def page_options(tool, command):
    """The options on the page of a command."""
    found = re.search(r"\nOptions:\n(.*?)(\n\n|\Z)", tool("help", command).out, flags=re.S)
    return re.findall(r"(?<![\w=-])--[\w-]+", "\n".join(line[:25] for line in found.group(1).splitlines())) if found else []


def test_pages(tool, overview):
    """help COMMAND and COMMAND --help are alike: usage, two examples; every option is on some page."""
    seen = set()
    for command in overview[0]:
        page = tool("help", command)
        assert (page.status, page.err) == (0, "")
        assert page == tool(command, "--help") == tool(command, "-h")
        assert page.out.startswith(f"usage: mpiq {command}")
        assert max(map(len, page.out.splitlines())) <= 96
        examples = re.search(r"\nExamples:\n((  .*\n)+)", page.out).group(1)
        lines = re.findall(r"^  (\S.*)$", examples, flags=re.M)
        assert len(lines) == 2 and all("mpiq" in line for line in lines)
        seen.update(page_options(tool, command))
    assert seen == {name for name in overview[1] if name.startswith("--")}


def test_examples_are_usable(tool, overview, tmp_path):
    """mpiq takes the options of each example; what it says then is about the job, not about the command line."""
    for command in overview[0]:
        for line in re.findall(r"^  (mpiq .*)$", tool("help", command).out, flags=re.M):
            if command in ("record", "run"):
                continue
            words = [word for word in line.split()[1:] if word != "help"]
            answer = tool(*words, cwd=tmp_path) if command != "help" else tool("help", *words)
            assert "(mpiq --help shows the usage)" not in answer.err, line
            assert not answer.err or answer.err.startswith("mpiq: "), line


def test_man_page(overview):
    """The man page has each command and option of the list, and no other."""
    text = (ROOT / "docs" / "mpiq.1").read_text(encoding="utf-8").replace("\\-", "-").replace("\\ ", " ")
    sections = dict(re.findall(r'^\.SH "?([A-Z ]+)"?\n(.*?)(?=^\.SH|\Z)', text, flags=re.M | re.S))
    heads = {name: re.findall(r"^\.TP\n(.*)$", sections[name], flags=re.M) for name in ("COMMANDS", "OPTIONS")}
    commands = [re.search(r"(\w+)", head.split(" ", 1)[1]).group(1) for head in heads["COMMANDS"]]
    assert sorted(commands) == sorted(overview[0])
    written = {name for head in heads["OPTIONS"] for name in re.findall(r"(?<![\w=-])--?[a-zA-Z][\w-]*", head)}
    assert written == set(overview[1])


def test_options_that_take_values(tool, overview):
    """What gdb asks: each is refused without its value."""
    answer = tool("--options-with-values")
    names = answer.out.split()
    assert {"--stall-after", "--html", "-o"} <= set(names) and "--json" not in names and "--check" not in names
    for name in names:
        assert f"{name} needs a value" in tool(name).err
    for name in set(overview[1]) - set(names):
        assert "needs a value" not in tool("doctor", name, "--version").err


@pytest.mark.parametrize("words, meant", [
    (["repotr"], "report"), (["wyh", "3"], "why"), (["coll"], "collectives"), (["help", "hsitory"], "history"),
    (["--jsn"], "--json"), (["run", "--hang-aftr", "9", "--", "true"], "--hang-after")], ids=" ".join)
def test_did_you_mean(tool, words, meant):
    answer = tool(*words)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.endswith(f"did you mean '{meant}'? (mpiq --help shows the usage)\n")


def test_nobody_meant_that(tool, tmp_path):
    for words in (["frobnicate"], ["--frobnicate"], ["zz"]):
        answer = tool(*words, cwd=tmp_path)
        assert answer.status == 2 and "did you mean" not in answer.err


@pytest.mark.parametrize("words, said", [
    (["--wait", "0"], "--wait takes seconds, more than 0, not '0'"),
    (["--fanout", "-1"], "--fanout takes a number from 1 on, not '-1'"),
    (["--pause", "nan"], "--pause takes seconds, not 'nan'"),
    (["--color", "auto always"], "--color takes auto, always or never, not 'auto always'"),
    (["--html", "/nonexistent/page.html"], "/nonexistent"),
    (["--json-to", "/"], "/ cannot be written"),
    (["history", "1", "--otf2", "/tmp"], "--otf2 takes a directory that is not there yet: '/tmp' is"),
    (["run", "--snapshot", "/nonexistent/job.mpiq", "--", "false"], "/nonexistent"),
    (["run", "--check=leak", "--", "false"], "--check takes =leaks or nothing, not 'leak'"),
    (["run", "--json", "--", "false"], "--json-to FILE writes JSON"),
    (["doctor", "--json"], "doctor takes no --json"),
    (["doctor", "--html", "page.html"], "doctor takes no --html"),
    (["snapshot", "--html", "page.html"], "snapshot takes no --html"),
    (["watch", "--html", "page.html"], "watch takes no --html"),
    (["late", "--at", "3", "traces.otf2"], "late takes no --at"),
    (["why", "1", "--comm", "x"], "--comm goes with collectives and comms only")], ids=" ".join)
def test_values(tool, words, said):
    """Checked before anything is read or started."""
    answer = tool(*words)
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err and answer.err.count("\n") == 1, answer.err


# The answers of a shell to <Tab>.

def bash(script, words):
    last = len(words) - 1
    # compopt is for bash alone while it completes, but what it would say is not asked for here.
    text = (f"compopt() {{ :; }}; . {script}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={last}; "
            f"_mpiq mpiq {words[-1]!r} {words[-2]!r}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = run(["bash", "-u", "-c", text], SECONDS)
    assert done.stderr == ""
    return done.stdout.split()


def fish(script, words):
    line = " ".join(words)
    done = run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], SECONDS)
    assert done.stderr == ""
    return [answer.split("\t")[0] for answer in done.stdout.splitlines()]


def zsh(script, words):
    """An interactive zsh on a terminal: ^D lists what would complete the word."""
    wanted = []
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", COLUMNS="200", LINES="200")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        said = bytearray()

        def type_until(text, end):
            os.write(terminal, text.encode())
            deadline = Deadline(SECONDS)
            at = len(said)
            while not re.search(end, said[at:].decode(errors="replace")):
                assert not deadline.passed(), said.decode(errors="replace")
                if select.select([terminal], [], [], 1)[0]:
                    said.extend(os.read(terminal, 1 << 16))
            return said[at:].decode(errors="replace")

        type_until("PS1='R''EADY>'; LISTMAX=999; autoload -U compinit; compinit -u -D; "
                   f"zstyle ':completion:*' list-separator '  --  '; source {script}; echo LOA''DED\n", "LOADED[^E]*READY>")
        line = " ".join(words)
        # Below the list, the line is shown again.
        listed = type_until(line + "\x04", r"\n(?:.*\n)*.*READY>" + re.escape(line))
        for row in listed.splitlines()[1:-1]: # what has a description has a line of its own
            wanted += row.split()[:1] if "  --  " in row else row.split()
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
    return wanted


@pytest.fixture(params=SHELLS)
def complete(request, tool, tmp_path):
    """Completes words with one of the shells, by the script that was installed for it."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    script = tmp_path / f"mpiq.{request.param}"
    script.write_text(tool("completion", request.param).out, encoding="utf-8")
    shell = {"bash": bash, "zsh": zsh, "fish": fish}[request.param]
    return lambda *words: shell(script, words)


def test_completed_commands(complete, overview):
    assert sorted(complete("mpiq", "h")) == ["help", "history"]
    assert set(overview[0]) <= set(complete("mpiq", ""))
    assert sorted(complete("mpiq", "help", "co")) == ["collectives", "comms"]


def test_completed_options(complete, tool):
    for command in ("collectives", "snapshot", "run"):
        found = complete("mpiq", command, "--")
        assert {name.rstrip("=") for name in found if name.startswith("--")} == set(page_options(tool, command))


def test_completed_values(complete):
    assert sorted(complete("mpiq", "report", "--color", "a")) == ["always", "auto"]


def test_completed_program(complete):
    """Behind -- are the words of another command."""
    assert "true" in complete("mpiq", "run", "--", "tru")


def test_built_scripts(tool):
    """What is installed is what mpiq prints."""
    build = pathlib.Path(os.environ["MPIQ_BUILD"]) / "cli" / "completion"
    for shell, name in zip(SHELLS, ("mpiq", "_mpiq", "mpiq.fish")):
        assert (build / name).read_text(encoding="utf-8") == tool("completion", shell).out
    assert tool("completion", "csh").status == 2
