#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""include_circles.py [BUILD]: fails if files include, import or call each other in a circle.

A C module is a .c file with its .h file; NAME_private.h belongs to NAME.  A Python module is one file, and
imports inside functions count: a circle that only works because one import comes late is still a circle.

With BUILD the object files there are looked at too: files of one library or program that use each other's
functions or variables in a circle need each other, whatever they include.  Not the recorder's: its table of MPI
functions names what is done before and after each call, and that calls MPI through the table.
"""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

C_FOLDERS = ("include", "mqs", "recorder", "lib", "cli", "ompi-patch/src")
C_ROOTS = ("include", "mqs", "lib", "ompi-patch/src")
PYTHON_FOLDERS = ("gdb-plugin",)
OBJECT_FOLDERS = ("lib", "mqs", "cli")


def c_module(path):
    stem = path.with_suffix("")
    return stem.with_name(re.sub(r"_private$", "", stem.name))


def c_includes():
    """Yields each C file with the files of the repository that it includes."""
    for folder in C_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            targets = []
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
                for base in [path.parent, *(ROOT / root for root in C_ROOTS)]:
                    target = (base / name).resolve()
                    if target.is_file() and target.is_relative_to(ROOT):
                        targets.append(target.relative_to(ROOT))
                        break
            yield path.relative_to(ROOT), targets


def c_modules():
    """{module: {module it includes: the file with the #include line}}"""
    graph = {}
    for path, targets in c_includes():
        includes = graph.setdefault(c_module(path), {})
        for target in targets:
            includes.setdefault(c_module(target), path)
    return graph


def python_modules():
    graph = {}
    for folder in PYTHON_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            imports = graph.setdefault(path.relative_to(ROOT).with_suffix(""), {})
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.level > 0:
                    base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                    names = [base] if node.module else []
                    names += [base / alias.name for alias in node.names]
                    for name in names:
                        if name.with_suffix(".py").is_file():
                            imports.setdefault(name.relative_to(ROOT), path.relative_to(ROOT))
    return graph


def object_modules(build):
    """{object file: {object file of the same library or program that it uses: itself}}"""
    defined, used = {}, {}
    objects = sorted(path.relative_to(build) for folder in OBJECT_FOLDERS for path in (build / folder).rglob("*.p/*.o"))
    command = ["nm", "--print-file-name", *map(str, objects)]
    for line in subprocess.run(command, capture_output=True, text=True, check=True, cwd=build).stdout.splitlines():
        path, symbol = line.split(":", 1)
        *_, kind, name = symbol.split()
        module = pathlib.Path(path)
        used.setdefault(module, set())
        if kind == "U":
            used[module].add(name)
        elif kind in "BCDRTVW": # lower case: of that file alone
            defined[module.parent, name] = module
    graph = {}
    for module, names in used.items():
        others = {defined.get((module.parent, name)) for name in names} - {None, module}
        graph[module] = {other: module for other in others}
    return graph


def circles(graph):
    """The sets of modules that reach each other (Tarjan's strongly connected components)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(module):
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in sorted(graph.get(module, ())):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            members = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(members) > 1:
                found.append(sorted(members))

    for module in sorted(graph):
        if module not in number:
            visit(module)
    return found


def describe(graph, members):
    lines = ["circle of %d modules: %s" % (len(members), " ".join(str(member) for member in members))]
    for member in members:
        for other, where in sorted(graph[member].items()):
            if other in members and other != member:
                lines.append("    %s uses %s" % (where, other))
    return "\n".join(lines)


def main():
    failed = False
    graphs = [c_modules(), python_modules()]
    if len(sys.argv) > 1:
        graphs.append(object_modules(pathlib.Path(sys.argv[1])))
    if not all(sum(len(uses) for uses in graph.values()) > 10 for graph in graphs):
        sys.exit("include_circles: found hardly any include, import or call: is the repository complete, and built?")
    for graph in graphs:
        for members in circles(graph):
            print(describe(graph, members))
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
