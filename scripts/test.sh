#!/usr/bin/env bash
# Sets up and runs every test that needs no GPU: checks of the sources, the test suite built by g++ and by clang, and
# the same suite under AddressSanitizer and UndefinedBehaviorSanitizer. Name stages to run only those:
#   scripts/test.sh [lint] [gcc] [clang] [asan]
set -euo pipefail
cd "$(dirname "$0")/.."

stages=("$@")
if [[ ${#stages[@]} -eq 0 ]]; then
  stages=(lint gcc clang asan)
fi

lint() {
  git ls-files '*.cpp' '*.h' '*.cu' | xargs clang-format --dry-run --Werror
  git ls-files '*.sh' .ci/run | xargs shellcheck
  git ls-files '*.py' | xargs -r flake8 --max-line-length 120
  echo "lint: clang-format, shellcheck and flake8 are content"
}

suite() {  # suite PRESET [ctest arguments...]
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -- --quiet
  ctest --preset "$preset" -j "$(nproc)" "$@"
}

scripts/install_packages.sh --tests
for stage in "${stages[@]}"; do
  started=$SECONDS
  echo "== $stage"
  case "$stage" in
    lint) lint ;;
    gcc) suite ci ;;
    clang) suite ci-clang ;;
    asan) suite asan ;;
    *)
      echo "$0: unknown stage '$stage' (lint, gcc, clang, asan)" >&2
      exit 2
      ;;
  esac
  echo "== $stage took $((SECONDS - started)) s"
done
echo "All stages passed: ${stages[*]}"
