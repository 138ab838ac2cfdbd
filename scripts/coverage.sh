#!/usr/bin/env bash
# How much of the code the tests run: builds it with clang's source-based coverage, runs every test that needs no GPU and
# prints the share of lines and regions per room. Kernel files are left out: they are counted by the emulator's own hooks.
#   scripts/coverage.sh [--build DIRECTORY] [--html DIRECTORY]
# Needs llvm-profdata and llvm-cov of clang's version (Debian: llvm).
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/coverage
html=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --build | --html)
      if [[ $# -lt 2 ]]; then
        echo "$0: $1 needs a value" >&2
        exit 2
      fi
      if [[ "$1" == --build ]]; then build=$2; else html=$2; fi
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      sed -n '4s/^# *//p' "$0" >&2
      echo "$0: unknown argument '$1'" >&2
      exit 2
      ;;
  esac
done

tool() { # the tool of clang's own version, else the plain one
  local version
  version=$(clang++ -dumpversion | cut -d. -f1)
  if command -v "$1-$version" || command -v "/usr/lib/llvm-$version/bin/$1" || command -v "$1"; then return; fi
  echo "$0: $1 is missing; install the package llvm" >&2
  exit 3
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

cmake --preset coverage -B "$build" >/dev/null
cmake --build "$build" -- --quiet
build=$(cd "$build" && pwd)
rm -rf "$build/profiles"
# Merged as they are written (%m), so that thousands of short runs of gpuexp leave one file per program.
LLVM_PROFILE_FILE="$build/profiles/%m.profraw" ctest --test-dir "$build" -LE 'slow|gpu' -j "$(nproc)" --output-on-failure
"$profdata" merge -sparse "$build"/profiles/*.profraw -o "$build/tests.profdata"

programs=()
for program in "$build/gpuexp" "$build"/tests/test_*; do
  if [[ -x "$program" && -f "$program" ]]; then programs+=(-object "$program"); fi
done
sources=("$PWD/profiler" "$PWD/apps" "$PWD/kernels")
if [[ -n "$html" ]]; then
  "$cov" show -format=html -output-dir="$html" -instr-profile="$build/tests.profdata" "${programs[@]:1}" "${sources[@]}"
  echo "$html/index.html"
fi
"$cov" export -summary-only -instr-profile="$build/tests.profdata" "${programs[@]:1}" "${sources[@]}" |
  python3 scripts/coverage_table.py
