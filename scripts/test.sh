#!/usr/bin/env bash
# Sets up and runs every test that needs no GPU. Name stages to run only those:
#   scripts/test.sh [lint] [gcc] [clang] [asan]
# lint   the formatters' and linters' opinion of the sources
# gcc    the whole suite
# clang  everything that emulates kernels, with the rest at -O1: counts must depend neither on the compiler nor on how
#        the rest is built
# asan   what reads files and compares them, under AddressSanitizer and UndefinedBehaviorSanitizer. Not the emulator: its
#        threads are fibers on stacks of their own and its memory hooks are the sanitizer's, which AddressSanitizer
#        cannot follow.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
fi
stages=("$@")
if [[ ${#stages[@]} -eq 0 ]]; then
  stages=(lint gcc clang asan)
fi

library_tests=(core device experiment report matrix compare)

lint() {
  git ls-files '*.cpp' '*.h' '*.cu' | xargs clang-format --dry-run --Werror
  git ls-files '*.sh' .ci/run | xargs shellcheck
  git ls-files '*.py' | xargs -r flake8 --max-line-length 120
  for script in scripts/*.sh; do "$script" --help | grep -q "scripts/$(basename "$script")"; done
  echo "lint: clang-format, shellcheck and flake8 are content, and every script has a --help"
}

build() {  # build PRESET [target...]
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -- --quiet "$@"
}

run_tests() {  # run_tests PRESET [ctest arguments...]
  ctest --preset "$1" -j "$(nproc)" --progress "${@:2}"
}

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
scripts/install_packages.sh --tests
for stage in "${stages[@]}"; do
  started=$SECONDS
  echo "== $stage"
  case "$stage" in
    lint) lint ;;
    gcc)
      # A test here adds a variant to a copy of the tree, which a cache makes cheap to build.
      CMAKE_CXX_COMPILER_LAUNCHER=ccache build ci
      run_tests ci
      ;;
    clang)
      build ci-clang gpuexp test_simt test_kernels test_kernels_spmv
      run_tests ci-clang -R '^(simt|kernels|kernels_spmv|baselines)\.' -LE slow
      ;;
    asan)
      # The kernel objects have no sanitizer: they are those of the stage gcc.
      CMAKE_CXX_COMPILER_LAUNCHER=ccache build asan "${library_tests[@]/#/test_}"
      run_tests asan -R "^($(IFS='|' && echo "${library_tests[*]}"))\."
      ;;
    *)
      echo "$0: unknown stage '$stage' (lint, gcc, clang, asan)" >&2
      exit 2
      ;;
  esac
  echo "== $stage took $((SECONDS - started)) s"
done
echo "All stages passed: ${stages[*]}"
