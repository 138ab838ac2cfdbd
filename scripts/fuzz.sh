#!/usr/bin/env bash
# Builds the fuzz targets, makes their seeds and runs each for so many seconds on one core, at the lowest priority.
# Prints how many inputs each has seen; exit code 1 and the input's file when one was found that a reader cannot take.
#   scripts/fuzz.sh [--seconds N] [--build DIRECTORY] [TARGET...]
# Found inputs that widen the coverage are kept in <build>/corpus, so that a later run goes on from there.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60
build=build/fuzz
targets=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --seconds | --build)
      if [[ $# -lt 2 ]]; then
        echo "$0: $1 needs a value" >&2
        exit 2
      fi
      if [[ "$1" == --seconds ]]; then seconds=$2; else build=$2; fi
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*)
      sed -n '4s/^# *//p' "$0" >&2
      echo "$0: unknown argument '$1'" >&2
      exit 2
      ;;
    *)
      targets+=("$1")
      shift
      ;;
  esac
done
all=(experiment device result_json result_csv diff access_patterns matrix_market command_line environment)
if [[ ${#targets[@]} -eq 0 ]]; then
  targets=("${all[@]}")
fi

cmake --preset fuzz -B "$build" >/dev/null
nice -n 19 cmake --build "$build" -- --quiet fuzzers
python3 tests/fuzz/make_seeds.py "$build/seeds"
build=$(cd "$build" && pwd)
cp "$(find "$build/seeds/diff" -type f | sort | head -n 1)" "$build/base.simt.csv"
export GPUEXP_FUZZ_BASE="$build/base.simt.csv"

failed=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target" "$build/findings"
  log="$build/$target.log"
  if ! nice -n 19 "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" "$build/seeds/$target" \
    >"$log" 2>&1; then
    failed=1
    echo "$target: FAILED" >&2
    grep -aE 'ERROR|runtime error|SUMMARY|Test unit written' "$log" >&2 || tail -n 20 "$log" >&2
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions"
done
exit "$failed"
