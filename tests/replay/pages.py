#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pages.py REPLAY RECORDED [LINE...]: text, JSON, page and the screen of mpiq watch show the same facts of every recorded case.

The page has every line of the text report; what it knows of each rank is what JSON says; every wait is an edge of its
picture, and the red ranks are those of the causes' circles, or wait for each other in one.  The screen has the verdict, and of
each rank the state and the call that JSON has.
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Lines of a text that is shorter than the page.
LEFT_OUT = re.compile(r"^(\.\.\. and \d+ more|and \d+ more|\d+ more |.* \(mpiq ranks shows every rank\))")
EDGE = re.compile(r"^(ranks?) (\S+) waits? for (itself|each other|all ranks of the circle|ranks? (\S+)):")


def ranks_of(text):
    """The names of the ranks in "0-2,7,w1:0-4:2"."""
    found = set()
    for item in filter(None, text.split(",")):
        world, first, last, step = re.fullmatch(r"(w\d+:)?(\d+)(?:-(\d+))?(?::(\d+))?", item).groups()
        for rank in range(int(first), int(last or first) + 1, int(step or 1)):
            found.add(f"{world or ''}{rank}")
    return found


def plain(markup):
    """The text of a page or of a part of it, a line for each paragraph and cell."""
    markup = re.sub(r"</?(span|g|time|b)\b[^>]*>", "", markup)
    return html.unescape(re.sub(r"<[^>]*>", "\n", markup))


class Page:
    def __init__(self, markup):
        body = markup[markup.index("<body>"):]
        self.body, script = body.split('<script type="application/json" id="data">', 1)
        self.data = json.loads(script[:script.index("</script>")])
        self.lines = {" ".join(line.split()) for line in plain(self.body).splitlines()}
        self.whole = "\n".join(self.lines)
        self.edges = []
        for line in self.lines:
            match = EDGE.match(line)
            if match:
                to = match[3] if match[4] is None else ranks_of(match[4])
                self.edges.append((ranks_of(match[2]), to))
        self.red = set()
        for name in re.findall(r'<g class="node circle[^>]*>.*?<text class="name"[^>]*>ranks? ([^<]*)</text>', self.body, re.DOTALL):
            self.red |= ranks_of(name)

    def has_edge(self, rank, other):
        for start, to in self.edges:
            if rank in start and (other in start if to in ("itself", "each other") else other in self.red if isinstance(to, str)
                                  else other in to):
                return True
        return False


def table(lines, title):
    """The rows below a title, as {heading: cell}."""
    start = lines.index(title) + 1
    heads = [(match.start(), match[0]) for match in re.finditer(r"\S+(?: \S+)*", lines[start])]
    for line in lines[start + 1:]:
        if not line.strip():
            return
        ends = [at for at, _ in heads[1:]] + [len(line)]
        yield {head: line[at:end].strip() for (at, head), end in zip(heads, ends)}


def screen_misfits(screen, text, report):
    lines = screen.splitlines()
    if lines[0] != text.splitlines()[0]:
        yield f"the screen's verdict is {lines[0]!r}"
    of_rank = {}
    for row in table(lines, "Who waits for whom") if "Who waits for whom" in lines else []:
        for rank in ranks_of(row["RANKS"]) if re.fullmatch(r"[w0-9:,-]+", row["RANKS"]) else ():
            of_rank.setdefault(rank, []).append(row)
    for rank in report["ranks"]:
        wanted = "stuck" if rank["stuck"] else rank["state"]
        rows = of_rank.get(name(rank), [])
        if [row.get("STATE") for row in rows] != [wanted]:
            yield f"rank {name(rank)} is {wanted}, on the screen {[row.get('STATE') for row in rows]}"
        elif rows[0].get("CALL", "").split(" ")[0] != rank.get("call", ""):
            yield f"rank {name(rank)} is in {rank.get('call')}, on the screen in {rows[0].get('CALL')}"


def name(rank):
    return str(rank["rank"])


def text_misfits(text, page):
    """Cells of the text report that the page does not have."""
    for line in text.splitlines():
        if LEFT_OUT.match(line.strip()):
            continue
        for cell in re.split(r"\s{2,}", line.strip()):
            cell = " ".join(cell.split())
            if cell and cell not in page.whole and re.sub(r"^(\d+\. |Follows: )", "", cell) not in page.whole:
                yield f"the page does not say {cell!r}"


def rank_misfits(report, page):
    of_rank = {rank: one for one in page.data["classes"] for rank in ranks_of(one["ranks"])}
    for index, rank in enumerate(report["ranks"]):
        one = of_rank.get(name(rank))
        wanted = "stuck" if rank["stuck"] else rank["state"]
        if one is None or one["state"] != wanted:
            yield f"rank {name(rank)} is {wanted}, on the page {one and one['state']}"
        elif (one.get("call") or "").split(" ")[0] != rank.get("call", ""):
            yield f"rank {name(rank)} is in {rank.get('call')}, on the page in {one.get('call')}"
        elif rank.get("pid", 0) != page.data["rows"][index][0]:
            yield f"rank {name(rank)} has another pid on the page"


def wait_misfits(report, page):
    for rank in report["ranks"]:
        for part in rank.get("waits_for", {}).get("of", []):
            for other in ranks_of(part["ranks"]):
                alone = other == name(rank) and len(ranks_of(part["ranks"])) > 1
                if not alone and not page.has_edge(name(rank), other):
                    yield f"no edge from rank {name(rank)} to rank {other}"
        if rank["stuck"] and len(report["ranks"]) > 1 and not any(name(rank) in start for start, _ in page.edges):
            yield f"rank {name(rank)} is stuck and no edge shows for whom"


def circle_misfits(report, page):
    known = {name(rank): rank for rank in report["ranks"]}
    steps = {str(step["rank"]) for finding in report["findings"] if finding["kind"] == "wait_cycle" and "consequence_of" not in finding
             for step in finding.get("steps", [])}
    if not steps <= page.red and len(steps) <= 40:
        yield f"ranks {sorted(steps - page.red)} are on a circle and not red"
    for rank in page.red - steps:
        awaited = {other for part in known[rank].get("waits_for", {}).get("of", []) for other in ranks_of(part["ranks"])}
        if not known[rank]["stuck"] or (awaited and not awaited & page.red):
            yield f"rank {rank} is red and waits for no red rank"


def main():
    replay, recorded = sys.argv[1:3]
    lines = sys.argv[3:] or sorted(path.name for path in pathlib.Path(recorded).iterdir() if path.is_dir())
    cases, edges, red, wrong = 0, 0, 0, []
    for line in lines:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([replay, "--pages", recorded, line, folder], check=True)
            for path in sorted(pathlib.Path(folder).glob("*.html")):
                page = Page(path.read_text())
                report = json.loads(path.with_suffix(".json").read_text())
                cases, edges, red = cases + 1, edges + len(page.edges), red + len(page.red)
                for check in (rank_misfits(report, page), wait_misfits(report, page), circle_misfits(report, page),
                              text_misfits(path.with_suffix(".txt").read_text(), page),
                              screen_misfits(path.with_suffix(".screen").read_text(), path.with_suffix(".txt").read_text(), report)):
                    wrong += [f"{line} {path.stem}: {misfit}" for misfit in check]
    print(*wrong[:40], f"{cases} pages compared, {edges} edges, {red} red ranks, {len(wrong)} misfits", sep="\n")
    return 1 if wrong or not (cases and edges and red) else 0


if __name__ == "__main__":
    sys.exit(main())
