# SPDX-License-Identifier: BSD-3-Clause
"""mpiq takes every command line that README and docs show: command, options and their values."""
import re
import shlex

import pytest

from support.answers import ROOT, Mpiq

# No command lines that a user types: sentences and drawings, attributes of traces, what mpiq and gdb start themselves.
PHRASES = {"is", "PATH", "──", "…", "communicator", "peer", "tag", "root", "number", "open", "collect", "--version"}


def command_lines():
    """(file and line, words after mpiq), of indented lines and of `...`; what is said beside a command is left out."""
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = re.findall(r"`mpiq ([^`]+)`", line)
            found += re.findall(r"^    (?:\$ )?mpiq (.*?)(?:  +.*| +#.*)?$", line)
            for text in found:
                words = shlex.split(re.sub(r"\$\([^)]*\)", "12345", text))
                if words and words[0] not in PHRASES:
                    yield pytest.param(words, id=f"{file.name}:{number} {text}")


def test_some_are_found():
    assert len(list(command_lines())) > 40


@pytest.mark.parametrize("words", command_lines())
def test_usable(words, mpiq, tmp_path):
    """With --help behind, options and values are read and the command's page is shown, which has the options."""
    own = words[:words.index("--")] if "--" in words else words
    answer = Mpiq(mpiq)(*own, "--help", cwd=tmp_path)
    assert (answer.status, answer.err) == (0, "")
    page = answer.out
    for option in own:
        if option.startswith("-"):
            assert re.search(rf"^  .*{re.escape(option.split('=')[0])}\b", page, flags=re.M), page


def test_interface_names_every_slot():
    """docs/INTERFACE.md says of every slot of the extension table what it returns, and of none that does not exist."""
    header = (ROOT / "include/mqs_extensions.h").read_text(encoding="utf-8")
    table = re.search(r"typedef struct mqs_extensions \{(.*?)\n\} mqs_extensions;", header, re.S)[1]
    slots = set(re.findall(r"\(\*(\w+)\)\(", table))
    rows = re.search(r"\| slot \| returns \|\n(.*?)\n\n", (ROOT / "docs/INTERFACE.md").read_text(encoding="utf-8"), re.S)[1]
    named = {name for row in rows.splitlines()[1:] for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert len(slots) > 30
    assert named == slots
