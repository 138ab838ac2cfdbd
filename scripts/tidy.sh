#!/usr/bin/env bash
# clang-tidy over the library and the program, by the profile in .clang-tidy. Name files to look at only those.
#   scripts/tidy.sh [--build DIRECTORY] [FILE...]
# Takes minutes, so it is no stage of scripts/test.sh. It needs the packages clang and clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/tidy
files=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --build)
      if [[ $# -lt 2 ]]; then
        echo "$0: $1 needs a value" >&2
        exit 2
      fi
      build=$2
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*)
      sed -n '3s/^# *//p' "$0" >&2
      echo "$0: unknown argument '$1'" >&2
      exit 2
      ;;
    *)
      files+=("$1")
      shift
      ;;
  esac
done
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(git ls-files 'profiler/*.cpp' 'apps/*.cpp' ':!profiler/backend/cuda/gpu/*')
fi
# Each file alone, so that a missing #include shows.
cmake --preset ci-clang -B "$build" -DGPUEXP_UNITY=OFF -DGPUEXP_TESTS=OFF >/dev/null
printf '%s\n' "${files[@]}" | nice xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build"
echo "tidy: clang-tidy is content with ${#files[@]} files"
