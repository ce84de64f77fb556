#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails if files include (or import) each other in a circle.

A C module is a .c file with its .h file; NAME_private.h belongs to NAME.  A Python module is one file, and
imports inside functions count: a circle that only works because one import comes late is still a circle.
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

C_FOLDERS = ("include", "mqs", "recorder", "lib", "cli", "ompi-patch/src")
C_ROOTS = ("include", "mqs", "lib", "ompi-patch/src")
PYTHON_FOLDERS = ("gdb-plugin",)


def c_module(path):
    stem = path.with_suffix("")
    return stem.with_name(re.sub(r"_private$", "", stem.name))


def c_modules():
    """{module: {module it includes: the file with the #include line}}"""
    graph = {}
    for folder in C_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            includes = graph.setdefault(c_module(path.relative_to(ROOT)), {})
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
                for base in [path.parent, *(ROOT / root for root in C_ROOTS)]:
                    target = (base / name).resolve()
                    if target.is_file() and target.is_relative_to(ROOT):
                        includes.setdefault(c_module(target.relative_to(ROOT)), path.relative_to(ROOT))
                        break
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
    graphs = (c_modules(), python_modules())
    if not all(sum(len(uses) for uses in graph.values()) > 10 for graph in graphs):
        sys.exit("include_circles: found hardly any include or import: is the repository complete?")
    for graph in graphs:
        for members in circles(graph):
            print(describe(graph, members))
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
