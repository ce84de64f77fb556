# SPDX-License-Identifier: BSD-3-Clause
"""The published schema of mpiq's JSON."""
import functools
import json
import pathlib

import jsonschema

FILE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "report.schema.json"


@functools.lru_cache
def validator():
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def misfit(answer):
    """Where and why an answer does not fit, or ""."""
    for error in validator().iter_errors(answer):
        place = "/".join(map(str, error.absolute_path))
        return f"does not fit the schema at {place or 'its top'}: {error.message[:500]}"
    return ""
