#!/bin/sh
# Makes .venv with the locked dependencies and this project, editable. Does nothing when that is done already.
#
# usage: sh scripts/setup.sh [extras]          default extras: dev. Uses uv when it is on PATH, else venv and pip.
#
# STRATA_INSTALLER=pip or uv forces one of them. An interrupted installation is simply started again.
set -eu

cd "$(dirname "$0")/.."
extras=${1:-dev}
root=$(pwd)
stamp=.venv/.installed
wanted=$(cat pyproject.toml constraints.txt constraints-build.txt | cksum)" $extras $root"

works() { .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && works; then
    exit 0
fi

sh scripts/preflight.sh .
python=$(sh scripts/python.sh)
installer=${STRATA_INSTALLER:-}
if [ -z "$installer" ]; then
    installer=pip
    command -v uv >/dev/null 2>&1 && installer=uv
fi
echo "setup: installing into $root/.venv with $installer and $("$python" --version); a few minutes, most of it compiling"

works || rm -rf .venv
rm -f "$stamp"
case $installer in
uv)
    [ -d .venv ] || uv venv --quiet --python "$python" .venv
    uv pip install --python .venv/bin/python --constraints constraints.txt \
        --build-constraints constraints-build.txt --editable ".[$extras]"
    ;;
pip)
    [ -d .venv ] || "$python" -m venv .venv
    # fast-downward's build calls a plain `python`, which Debian does not have: the environment's own must come first
    PATH="$root/.venv/bin:$PATH"
    export PATH PIP_DISABLE_PIP_VERSION_CHECK=1
    .venv/bin/python -m ensurepip --upgrade >/dev/null
    .venv/bin/python -m pip install --quiet --constraint constraints-build.txt pip
    .venv/bin/python -m pip install --progress-bar off --constraint constraints.txt \
        --build-constraint constraints-build.txt --editable ".[$extras]"
    ;;
*)
    echo "STRATA_INSTALLER=$installer: must be uv or pip." >&2
    exit 2
    ;;
esac
printf '%s' "$wanted" >"$stamp"
echo "setup: done. Try: make reproduce, make test"
