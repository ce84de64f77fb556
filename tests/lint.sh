#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/lint.sh BUILD [--tidy]: formatting and static checks of all that git tracks; --tidy: clang-tidy too,
# which takes many minutes.
set -uo pipefail
build=$1
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 1
failed=0

check() {
    local what=$1
    shift
    printf 'mpiq: lint: %s\n' "$what" >&2
    "$@" || { failed=1; printf 'mpiq: lint: %s failed\n' "$what" >&2; }
}

# The files that git tracks or would, of these patterns.
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done; }

scripts() { files | while read -r f; do head -c 64 "$f" | head -n 1 | tr -d '\0' | grep -qE '^#!.*\b(ba)?sh\b' && printf '%s\n' "$f"; done; }

# shellcheck disable=SC2317 # called by name
licence() {
    local bad
    bad=$(files '*.c' '*.h' '*.py' '*.build' '*.sh' '*.f90' | xargs grep -L 'SPDX-License-Identifier: BSD-3-Clause')
    [ -z "$bad" ] || { printf 'no SPDX line: %s\n' "$bad"; return 1; }
}

# Comments and strings ask for no formatter: only what our own folders hold, not the patch's hooks.
mapfile -t c_files < <(files 'lib/*.c' 'lib/*.h' 'cli/*.c' 'cli/*.h' 'mqs/*.c' 'mqs/*.h' 'examples/*.c' 'tests/*.c' 'tests/*.h')
mapfile -t unit_files < <(files 'lib/*.c' 'cli/*.c' 'mqs/*.c')
mapfile -t python_files < <(files '*.py')
mapfile -t shell_files < <(scripts)

check 'SPDX lines' licence
check clang-format clang-format --dry-run -Werror "${c_files[@]}"
check shellcheck shellcheck -x -S warning "${shell_files[@]}"
check pyflakes pyflakes3 "${python_files[@]}"
# It knows no cleanup guards, so leaks are the sanitizers' to find.
check cppcheck cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
    --suppress=memleak --suppress=resourceLeak --suppress=leakReturnValNotUsed --suppress=objectIndex --std=c11 -j 2 -D__linux__ \
    -Iinclude -Ilib "${unit_files[@]}"

# As cppcheck does, on both processors; it is the slowest of all by far.
# shellcheck disable=SC2317 # called by name
tidy() { printf '%s\0' "${unit_files[@]}" | xargs -0 -n 1 -P 2 clang-tidy --quiet -p "$build"; }

[ "${2:-}" != --tidy ] || check clang-tidy tidy
exit $failed
