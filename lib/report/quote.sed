# SPDX-License-Identifier: BSD-3-Clause
# A text as lines of a C string.
s/[\\"]/\\&/g
s/^/"/
s/$/\\n"/
