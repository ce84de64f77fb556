# SPDX-License-Identifier: BSD-3-Clause
import pytest

from support import answers, built


@pytest.fixture
def mpiq():
    built.built("lib/trace/mpiq-trace-reader")
    return answers.Mpiq(built.mpiq_program())
