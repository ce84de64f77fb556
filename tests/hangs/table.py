# SPDX-License-Identifier: BSD-3-Clause
"""The results of the corpus as Markdown: a row for each case, a column for each line, and the sums.

A result is kept as a plain dictionary (as_row), so that runs of single lines can be put together in one table.
tests/hangs/table.py RESULTS [LINE...] prints the sums, and the cases that differ from what a patched library gives.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent)) # as pytest.ini has it

from support import libraries # noqa: E402

def as_row(result):
    """One result as plain data."""
    case = result.case
    return {"line": result.line.name, "family": case.family, "name": case.name, "expected": case.verdicts,
            "verdict": result.verdict, "looks": result.looks, "again": result.again,
            "healthy": case.healthy, "hangs": bool(case.firsts),
            "wrong_verdict": bool(result.wrong_verdict), "named": bool(case.firsts) and not result.wrong_first,
            "lost": list(result.lost), "trouble": bool(result.trouble),
            "why": result.trouble or result.wrong_verdict or result.wrong_first}


def kept(path):
    """The rows that a file keeps, of earlier runs."""
    file = pathlib.Path(path)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def merged(results, path):
    """Brings a file of rows up to date with these results."""
    rows = {(row["line"], row["name"]): row for row in kept(path)}
    rows.update({(result.line.name, result.case.name): as_row(result) for result in results})
    part = pathlib.Path(f"{path}.part") # a run that is ended just now leaves the earlier results
    part.write_text(json.dumps(list(rows.values()), indent=1), encoding="utf-8")
    part.replace(path)


def markdown(rows):
    """Rows of text as a Markdown table; the first one is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def line_names(rows):
    present = dict.fromkeys(row["line"] for row in rows)
    return [name for name in libraries.PREFIX_VARIABLES if name in present] + [
        name for name in present if name not in libraries.PREFIX_VARIABLES]


def cases(rows):
    """A row for each case."""
    names = line_names(rows)
    by_case = {}
    for row in rows:
        by_case.setdefault((row["family"], row["name"], "/".join(row["expected"])), {})[row["line"]] = row
    return markdown([["case", "expected"] + names] +
                    [[f"{family}: {name}", expected] + [cell(by_line.get(line)) for line in names]
                     for (family, name, expected), by_line in by_case.items()])


def cell(row):
    """One result in a few words."""
    if row is None:
        return "-"
    if row["trouble"]:
        return "did not run"
    text = (row["verdict"] or "no answer") + (" WRONG" if row["wrong_verdict"] else "")
    if row["hangs"]:
        lost = [word for word in row["lost"] if row["line"] not in ("4.1", "5.0") or word != "time"]
        text += ", named" if row["named"] else ", not named"
        text += f" [no {', '.join(lost)}]" if lost else ""
    if row["healthy"]:
        text += f" ({row['looks']} looks)"
    return text


SUMS = [
    ("programs that hang", lambda rows: len(hung(rows))),
    ("… verdict as with the patch", lambda rows: sum(row["verdict"] in row["expected"] for row in hung(rows))),
    ("… first finding names ranks and call", lambda rows: sum(row["named"] for row in hung(rows))),
    ("… with a waiting time", lambda rows: sum("time" not in row["lost"] for row in hung(rows))),
    ("… with all else that is expected", lambda rows: sum(not set(row["lost"]) - {"time"} for row in hung(rows))),
    ("… further looks, none `running`", lambda rows: sum(row.get("again", 0) for row in hung(rows))),
    ("programs that do not hang", lambda rows: sum(row["healthy"] for row in rows)),
    ("… looks at them", lambda rows: sum(row["looks"] for row in rows if row["healthy"])),
    ("… of them false deadlocks", lambda rows: sum(row["verdict"] == "deadlock" for row in rows if row["healthy"])),
    ("others (cannot be proven, or end by themselves)",
     lambda rows: sum(not row["healthy"] and not row["hangs"] for row in rows)),
    ("wrong verdicts", lambda rows: sum(row["wrong_verdict"] for row in rows)),
    ("did not run", lambda rows: sum(row["trouble"] for row in rows)),
]


def hung(rows):
    return [row for row in rows if row["hangs"]]


def sums(rows):
    """A row for each question, a column for each line."""
    names = line_names(rows)
    by_line = [[row for row in rows if row["line"] == name] for name in names]
    return markdown([[""] + names] + [[title] + [str(count(of_line)) for of_line in by_line] for title, count in SUMS])


def differs(row):
    """Whether a line's answer is not the one that the corpus expects of a patched library."""
    return row["trouble"] or row["wrong_verdict"] or row["hangs"] and not (
        row["named"] and row["verdict"] in row["expected"])


def difference(row):
    """Of one that differs: what it lacks."""
    if row is None:
        return "not run"
    if not differs(row):
        return "same"
    if row["trouble"]:
        return "ends" if "came out" in row.get("why", "") else "did not run"
    return (row["verdict"] or "no answer") + ("" if row["named"] else ", other first")


def differences(rows):
    """A row for each case that some line answers in another way, a column for each line."""
    names = line_names(rows)
    by_case = {}
    for row in rows:
        by_case.setdefault(row["name"], {})[row["line"]] = row
    return markdown([["case", "expected"] + names] + [
        [name, "/".join(next(iter(found.values()))["expected"])] + [difference(found.get(line)) for line in names]
        for name, found in by_case.items() if any(map(differs, found.values()))])


if __name__ == "__main__":
    chosen = [row for row in kept(sys.argv[1]) if not sys.argv[2:] or row["line"] in sys.argv[2:]]
    print(f"{sums(chosen)}\n\n{differences(chosen)}")
