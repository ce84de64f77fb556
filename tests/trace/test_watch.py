# SPDX-License-Identifier: BSD-3-Clause
"""A trace is played back: from its start to its end, each line is a look."""
from archive import Script


def test_played_back(mpiq, tmp_path):
    script = Script(2)
    script.send(0, 1.0, 1.1, 1, 7)
    script.recv(1, 0.5, 4.0, 0, 7)
    script.finish(6)
    trace = script.write(tmp_path / "a")
    answer = mpiq("watch", "--plain", "--interval", "0.5", trace)
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert 10 <= len(lines) <= 16, answer.out
    assert any("1 receiving" in line or "MPI_Recv" in line for line in lines), answer.out
    assert " finished " in lines[-1] and lines[-1].endswith("the trace shows nothing wrong")
    assert not any(" deadlock " in line for line in lines)
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    # At one time it is one look.
    assert len(mpiq("watch", "--plain", "--at", "2", trace).out.splitlines()) == 1
