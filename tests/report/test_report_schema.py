# SPDX-License-Identifier: BSD-3-Clause
"""The JSON reports that test_report compares with: each is what docs/report.schema.json says, and only that."""
import copy
import json
import pathlib
import re

import pytest

jsonschema = pytest.importorskip("jsonschema")

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = json.loads((HERE.parents[1] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
REPORTS = sorted((HERE / "expected").glob("*.json"))
PARTS = {"report": {"text", "findings", "communicators", "windows", "ranks", "assumptions", "notes"},
         "why": {"text", "chain"}, "collectives": {"text", "communicators"}, "comms": {"text", "communicators"},
         "queues": {"text", "ranks"}, "ranks": {"text", "ranks"}, "stacks": {"text", "stacks"}}


def validator():
    """The schema, itself found to be one."""
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    return jsonschema.Draft7Validator(SCHEMA)


def loaded(path):
    """The report; a key twice in one object is an error."""
    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), pairs
        return dict(pairs)
    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)


def named(name):
    """One of the reports."""
    return loaded(HERE / "expected" / name)


def test_there_are_reports():
    assert len(REPORTS) > 10


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_report_is_what_the_schema_says(path):
    report = loaded(path)
    validator().validate(report)
    view = "report" if path.stem.startswith("screen-") else next(part for part in PARTS if f"-{part}" in path.stem)
    assert set(report) - {"schema", "verdict", "job"} == PARTS[view]


@pytest.mark.parametrize("path", [path for path in REPORTS if path.stem.endswith("-report")],
                         ids=lambda path: path.stem)
def test_a_view_is_the_report_restricted(path):
    report = loaded(path)
    for view, parts in PARTS.items():
        other = path.with_name(path.name.replace("-report", f"-{view}"))
        if view == "why" or not other.exists():
            continue
        part = loaded(other)
        for key in parts | {"schema", "verdict", "job"}:
            wanted = copy.deepcopy(report[key])
            if view == "comms" and key == "communicators":
                for communicator in wanted:
                    del communicator["collectives"], communicator["numbers"]
            assert part[key] == wanted


def changed(**changes):
    """The wrong turn's report with something else in place of some of its parts."""
    return {**named("wrong-turn-report.json"), **changes}


@pytest.mark.parametrize("wrong", [
    changed(schema=1), changed(verdict="hung"), changed(extra=1), changed(ranks=[{"rank": 0}]),
    changed(ranks=[{"rank": "w0:1", "state": "gone"}]), changed(ranks=[{"rank": 0, "state": "blocked", "sends": []}]),
    changed(notes=[{"ranks": "0-", "text": ""}]), changed(findings=[{"kind": "wait_cycle", "proven": True, "ranks": "0",
                                                                     "sites": [], "text": ""}]),
    {"schema": 2, "verdict": "running", "job": {"size": 0, "ranks_seen": 0, "source": "none", "hosts": []}},
])
def test_the_schema_refuses_what_is_wrong(wrong):
    assert not validator().is_valid(wrong)


def test_the_words_are_those_of_the_headers():
    """An enum that grows in lib/state must grow in the schema."""
    header = "\n".join(path.read_text(encoding="utf-8") for path in sorted((HERE.parents[1] / "lib" / "state").glob("*.h")))
    definitions = SCHEMA["definitions"]
    for macro, words in {
            "MPIQ_VERDICTS": SCHEMA["properties"]["verdict"]["enum"],
            "MPIQ_FINDING_KINDS": definitions["finding"]["properties"]["kind"]["enum"],
            "MPIQ_RANK_ACTIVITIES": definitions["state"]["enum"],
            "MPIQ_OPERATION_KINDS": definitions["operation"]["properties"]["kind"]["enum"],
            "MPIQ_OPERATION_STATUSES": definitions["operation"]["properties"]["status"]["enum"],
            "MPIQ_SOURCES": definitions["source"]["enum"],
            "MPIQ_WAIT_PARTS": definitions["waits_for"]["properties"]["of"]["items"]["properties"]["kind"]["enum"]}.items():
        rows = header.split(f"#define {macro}(X)", 1)[1].split("\n\n", 1)[0]
        ours = {line.split('"')[1] for line in rows.splitlines() if '"' in line}
        assert ours == set(words), f"{macro} and docs/report.schema.json: {sorted(ours ^ set(words))} is in one alone"
        assert len(words) == len(ours), f"docs/report.schema.json has a word of {macro} twice"


def test_each_state_has_a_colour_and_a_letter():
    """A state that grows in lib/state must grow in the page's style; its letter is no other's, nor a call's of mpiq watch."""
    lib = HERE.parents[1] / "lib"
    rows = re.findall(r"X\(\w+, \"(\w+)\", '(.)'\)", (lib / "state" / "finding.h").read_text(encoding="utf-8"))
    assert sorted(word for word, _ in rows) == sorted(SCHEMA["definitions"]["state"]["enum"])
    calls = re.findall(r"'(\w)'[,}]", (lib / "report" / "rank_cells.c").read_text(encoding="utf-8"))
    letters = ["!", *(letter for _, letter in rows), *calls]
    assert len(calls) > 12 and len(set(letters)) == len(letters), letters
    style = (lib / "report" / "page.css").read_text(encoding="utf-8")
    light = style.split("}", 1)[0]
    assert [word for word, _ in [("stuck", "!"), *rows] if not re.search(rf"--{word}: #\w+;", light)] == []
