#!/bin/sh
# Prints the path of a Python that is new enough (3.11), or nothing. STRATA_PYTHON is tried first, then PATH, then uv's.
fits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}
for name in ${STRATA_PYTHON:+"$STRATA_PYTHON"} python3.11 python3.12 python3.13 python3; do
    if command -v "$name" >/dev/null 2>&1 && fits "$name"; then
        command -v "$name"
        exit 0
    fi
done
if command -v uv >/dev/null 2>&1; then
    UV_PYTHON_DOWNLOADS=never uv python find '>=3.11' 2>/dev/null
fi
exit 0
