#!/usr/bin/env bash
# Runs the emulated experiments of the regression gate, and makes their results the baselines in results/simt/. A
# baseline whose numbers did not change is left as it is, so that a commit shows what moved. With --check nothing is
# written: exit code 1 when a baseline differs from what the kernels do now.
#   scripts/update_baselines.sh [--check] [--gpuexp PROGRAM] [--markdown FILE] [--junit FILE]
set -euo pipefail
cd "$(dirname "$0")/.."

# Every kernel file that the emulator runs is in one of them. Arguments of `gpuexp run` may follow the name.
experiments=(
  tile_sweep
  transpose
  coarsening
  coalescing
  "register_tiling --set n=256"
  "fast_kernels --set n=256 --set rows=1024 --set cols=1024 --filter transpose/rows_per_thread,transpose/swizzled,transpose/vectorised,matmul/vectorised,matmul/conflict_free,matmul/double_buffered,matmul/warp_tiled"
  barriers
  vector
  micro
  patterns
  gemv
  sparse24
  "batch_sweep --set m=1,16,40 --set n=256 --set k=200"
  spmv
)
budget=4000000 # lane accesses per point: larger points are sampled, with exact weights
baselines=results/simt

check=false
program=""
markdown=""
junit=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --check)
      check=true
      shift
      ;;
    --gpuexp | --markdown | --junit)
      if [[ $# -lt 2 ]]; then
        echo "$0: $1 needs a value" >&2
        exit 2
      fi
      case "$1" in
        --gpuexp) program=$2 ;;
        --markdown) markdown=$2 ;;
        *) junit=$2 ;;
      esac
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      sed -n '5s/^# *//p' "$0" >&2
      echo "$0: unknown argument '$1'" >&2
      exit 2
      ;;
  esac
done
if [[ -z "$program" ]]; then
  for candidate in build/release/gpuexp build/cpu-only/gpuexp build/ci/gpuexp build/dev/gpuexp; do
    if [[ -x "$candidate" ]]; then
      program=$candidate
      break
    fi
  done
fi
if [[ ! -x "$program" ]]; then
  echo "$0: no gpuexp is built; build one (cmake --preset release && cmake --build --preset release) or name it" \
    "with --gpuexp" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=()
for experiment in "${experiments[@]}"; do
  read -r -a words <<<"$experiment"
  name=${words[0]}
  names+=("$name")
  if ! "$program" run "configs/$name.json" "${words[@]:1}" --backend simt --budget "$budget" --quiet \
    --out "$work/now" >"$work/run" 2>&1; then
    cat "$work/run" >&2
    echo "$0: configs/$name.json failed" >&2
    exit 1
  fi
done

if $check; then
  arguments=()
  if [[ -n "$junit" ]]; then
    arguments+=(--junit "$junit")
  fi
  if [[ -n "$markdown" ]]; then
    "$program" diff "$baselines" "$work/now" --fail-on any --format markdown >"$markdown" || true
  fi
  # An improvement fails as well: unless it becomes the baseline, losing it again would go unseen.
  if ! "$program" diff "$baselines" "$work/now" --fail-on any "${arguments[@]}"; then
    echo "The kernels' traffic is not what results/simt/ says. If that is meant, run scripts/update_baselines.sh and" \
      "commit the result." >&2
    exit 1
  fi
  exit 0
fi

mkdir -p "$baselines"
for experiment in "${names[@]}"; do
  name="$experiment.simt.csv"
  : >"$work/report"
  if [[ -e "$baselines/$name" ]] &&
    "$program" diff "$baselines/$name" "$work/now/$name" --fail-on any >"$work/report" 2>&1; then
    echo "$baselines/$name: unchanged"
    continue
  fi
  cp "$work/now/$name" "$baselines/$name"
  echo "$baselines/$name: updated"
  if [[ -s "$work/report" ]]; then
    sed 's/^/  /' "$work/report"
  fi
done
# Baselines of experiments that are no longer run would look like lost results.
for path in "$baselines"/*.simt.csv; do
  name=$(basename "$path" .simt.csv)
  if [[ " ${names[*]} " != *" $name "* ]]; then
    rm "$path"
    echo "$path: removed, no longer run"
  fi
done
