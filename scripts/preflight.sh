#!/bin/sh
# Names everything that the installation will need and this machine lacks, before any work is done.
#
# usage: sh scripts/preflight.sh [folder]      exit 0: all there; exit 1: a list on stderr, with the command to install it
#
# A compiler is needed because two dependencies of ALFWorld's engine ship as source alone: jericho (C, make) and
# fast-downward-textworld (C++, make; its CMake comes as a package). STRATA_PYTHON names another Python to use;
# STRATA_NEED_MB changes the free space asked for.
set -u

folder=${1:-.}
need_mb=${STRATA_NEED_MB:-4000}
missing=""
packages=""

lacks() { # what it is and why, Debian package
    missing="$missing  - $1
"
    case " $packages " in *" $2 "*) ;; *) packages="$packages $2" ;; esac
}

compiles() { # compiler, language, source
    scratch=$(mktemp -d) || return 1
    printf '%s\n' "$3" | "$1" -x "$2" - -o "$scratch/probe" >"$scratch/log" 2>&1
    code=$?
    rm -rf "$scratch"
    return $code
}

python=$(sh "$(dirname "$0")/python.sh")
if [ -z "$python" ]; then
    found=$(python3 --version 2>/dev/null) || found="none"
    lacks "Python 3.11 or newer (found: $found)" python3
    command -v uv >/dev/null 2>&1 || lacks "Python's venv module" python3-venv
elif ! command -v uv >/dev/null 2>&1 && ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    lacks "Python's venv module, or uv" python3-venv
fi
command -v make >/dev/null 2>&1 || lacks "make" build-essential
compiles "${CC:-cc}" c '#include <stdio.h>
int main(void) { return puts("") < 0; }' || lacks "a C compiler with headers (command: ${CC:-cc})" build-essential
compiles "${CXX:-c++}" c++ '#include <vector>
int main() { return (int)std::vector<int>().size(); }' || lacks "a C++ compiler with headers (command: ${CXX:-c++})" build-essential

if [ ! -w "$folder" ]; then
    missing="$missing  - permission to write to $(cd "$folder" 2>/dev/null && pwd || echo "$folder")
"
fi
free_mb=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
if [ -n "$free_mb" ] && [ "$free_mb" -lt "$need_mb" ]; then
    missing="$missing  - disk space: $need_mb MB wanted where this folder lies, $free_mb MB free
"
fi

[ -z "$missing" ] && exit 0
{
    printf 'This machine lacks:\n%s' "$missing"
    if [ -n "$packages" ]; then
        as_root=""
        [ "$(id -u)" -eq 0 ] || as_root="sudo "
        if command -v apt-get >/dev/null 2>&1; then
            echo "Install it with:"
            echo "  ${as_root}apt-get update && ${as_root}apt-get install -y$packages"
        else
            echo "Install with your system's package manager what Debian calls:$packages"
        fi
    fi
    echo "Nothing has been changed. Then run the same command again."
} >&2
exit 1
