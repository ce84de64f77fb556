# SPDX-License-Identifier: BSD-3-Clause
"""Programs of MPICH's test suite that --check accuses or --strict hangs rightly, and why."""

# Accused by --check, each for something that it does.
ACCUSED = {
}

# Ended or changed by --strict: programs that rest on what the standard does not promise.
STRICT = {
}
