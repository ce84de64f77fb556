# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of other packagers: one version number, and files that are where they say."""
import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "packaging" / "spack" / "spack_repo" / "mpiq" / "packages"


@pytest.mark.parametrize("path, pattern", [
    ("packaging/debian/changelog", r"^mpiq \(([^)]*)\)"), ("packaging/rpm/mpiq.spec", r"^Version: (\S+)"),
    ("packaging/rpm/mpiq.spec", r"^\* .* - (\S+)-1$"), ("packaging/modulefile", r"^set prefix /opt/mpiq/(\S+)"),
    ("CHANGELOG.md", r"^## (\S+)")])
def test_there_is_one_version(path, pattern):
    version = re.search(r"^  version: '(.*)',$", (ROOT / "meson.build").read_text(), re.MULTILINE)[1]
    assert re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1] == version


@pytest.fixture
def recipe(monkeypatch):
    """What a recipe asks Spack for, which is not installed here: (names of its module, calls of directives)."""
    calls = []

    def module(name, **names):
        found = types.ModuleType(name)
        found.__dict__.update(names)
        monkeypatch.setitem(sys.modules, name, found)

    def directive(name):
        return lambda *positional, **named: calls.append((name, positional, named))

    module("spack")
    module("spack.package", when=lambda _: lambda method: method,
           **{name: directive(name) for name in ("depends_on", "license", "patch", "variant", "version")})
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.packages",
                 "spack_repo.builtin.packages.openmpi"):
        module(name)
    module("spack_repo.builtin.build_systems.meson", MesonPackage=object)
    module("spack_repo.builtin.packages.openmpi.package", Openmpi=object)

    def load(name):
        path = PACKAGES / name / "package.py"
        names = {"__file__": str(path), "__name__": name}
        exec(compile(path.read_text(), path, "exec"), names)  # pylint: disable=exec-used
        return names, calls
    return load


def test_spack_finds_this_clone(recipe):
    assert recipe("mpiq")[0]["CLONE"] == ROOT


def test_spack_finds_the_patches(recipe):
    names, calls = recipe("openmpi")
    stored = [positional[0] for name, positional, _ in calls if name == "patch"]
    # 6.0's is for one commit of a line that is not out; Spack makes that patch from the release.
    assert sorted(map(pathlib.Path, stored)) == sorted(
        path for path in (ROOT / "ompi-patch").glob("openmpi-*.patch") if path.name != "openmpi-6.0.0.patch")
    assert (names["OMPI_PATCH"] / "generate").is_file()
