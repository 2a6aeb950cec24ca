#!/usr/bin/python3
"""validate.py SCHEMA REPORT...: the reports hold to the schema, and have nothing that it does not name.

The schema that is published lets names be added; here none may be.
"""
import json
import sys

import jsonschema


def close(schema):
    """Forbid what is not named, at every level."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            report = json.load(f)
        for error in validator.iter_errors(report):
            where = "/".join(str(part) for part in error.absolute_path)
            print(f"{path}: {where}: {error.message[:300]}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
