#!/usr/bin/env bash
# All checks of the source tree; the last line says what failed.
set -u
cd "$(dirname "$0")" || exit 2

failed=""
for check in checks layers headers names sizes format; do
    "./check_$check.sh"
    status=$?
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        failed+=" $check"
    fi
done
if [ -n "$failed" ]; then
    echo "lint FAILED:$failed"
    exit 1
fi
echo "lint passed"
