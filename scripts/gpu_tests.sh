#!/usr/bin/env bash
# Everything that needs a GPU, in one go: the GPU tests, compute-sanitizer over every sound variant and over those broken
# on purpose, and the cross-check of counters with Nsight Compute.
#   scripts/gpu_tests.sh [BUILD_DIR]      default: build/release
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
fi
build=${1:-build/release}
gpuexp=$build/gpuexp
failed=()

if [[ ! -x $gpuexp ]]; then
  echo "$0: $gpuexp is not there; build first: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi
if ! "$gpuexp" run vector --backend cuda --device auto --filter n=1000 --no-predict --quiet --out "$build/gpu_tests" >/dev/null; then
  "$gpuexp" doctor
  echo "$0: no usable GPU here; see above" >&2
  exit 3
fi

step() {  # step NAME COMMAND...
  local name=$1 started=$SECONDS
  shift
  echo "== $name"
  if "$@"; then echo "== $name: passed after $((SECONDS - started)) s"; else failed+=("$name"); fi
}

# Small odd sizes: the sanitizer makes kernels 10 to 100 times slower.
points=$build/gpu_tests/sanitize.json
mkdir -p "$build/gpu_tests"
cat >"$points" <<'JSON'
{
  "name": "sanitize",
  "device": "auto",
  "measure": {"max_time_s": 0.001, "min_samples": 1},
  "experiments": [
    {"variant": ["matmul/naive", "matmul/tiled", "matmul/coarsened", "matmul/register_tiled", "matmul/vectorised",
                 "matmul/conflict_free", "matmul/double_buffered", "matmul/warp_tiled", "matmul/async_copy", "matmul/overlapped",
                 "matmul/register_banks"], "axes": {"n": [67]}},
    {"variant": "matmul/mma_*", "axes": {"m": [133], "n": [131, 264], "k": [67, 200]}},
    {"variant": "matmul/wgmma_*", "axes": {"m": [133], "n": [264], "k": [328], "BN": [128, 256], "STAGES": [4]}},
    {"variant": "matmul/wgmma_persistent", "axes": {"m": [2100], "n": [2056], "k": [72]}},
    {"variant": "transpose/*", "axes": {"rows": [67], "cols": [45]}},
    {"variant": ["vector/*", "copy/*"], "axes": {"n": [1003]}},
    {"variant": "gemv/*", "axes": {"m": [37], "n": [260]}},
    {"variant": "sparse24/*", "axes": {"m": [37], "n": [264]}},
    {"variant": "spmv/*", "axes": {"matrix": ["powerlaw"], "rows": [211], "nnz_per_row": [9], "exponent": [0.8]}},
    {"variant": "spmv/*", "axes": {"matrix": ["lecture4x4", "no_entries"]}},
    {"variant": "spmv/adaptive", "axes": {"matrix": ["one_dense_row"], "rows": [70], "cols": [2501], "nnz_per_row": [3], "piece": [128], "split": [1, 8]}},
    {"variant": ["access/strided", "access/shared_strided"], "axes": {"stride": [3]}},
    {"variant": ["micro/read", "micro/shared_read", "micro/write", "micro/triad"], "axes": {"n": [1004]}},
    {"variant": "micro/fma", "axes": {"threads": [333], "chains": [1, 8]}},
    {"variant": ["micro/chase", "micro/shared_chase", "micro/mma_sync", "micro/wgmma"]}
  ]
}
JSON

sanitize() {  # sanitize TOOL [gpuexp arguments...]: in one process, which the sanitizer can follow
  local tool=$1
  shift
  GPUEXP_CUDA_IN_PROCESS=1 compute-sanitizer --tool "$tool" --error-exitcode 9 \
    "$gpuexp" run "$points" --backend cuda --device auto --no-counters --no-predict --quiet --out "$build/gpu_tests" "$@" \
    >"$build/gpu_tests/$tool.log" 2>&1
  local code=$?
  tail -n 3 "$build/gpu_tests/$tool.log"
  return $code
}

# A variant broken on purpose passes when the sanitizer objects to it.
objects() {  # objects TOOL VARIANT PARAMETERS...
  local tool=$1 variant=$2
  shift 2
  cat >"$build/gpu_tests/broken.json" <<JSON
{"name": "broken", "device": "auto", "measure": {"max_time_s": 0.001, "min_samples": 1},
 "experiments": [{"variant": "$variant", "axes": {"n": [67]}}]}
JSON
  points=$build/gpu_tests/broken.json sanitize "$tool" "$@"
  [[ $? -eq 9 ]]
}

step "GPU tests" ctest --test-dir "$build" -L gpu --output-on-failure
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    step "compute-sanitizer $tool" sanitize "$tool"
  done
  step "memcheck objects to matmul/tiled_unguarded" objects memcheck matmul/tiled_unguarded
  step "racecheck objects to matmul/tiled_no_load_barrier" objects racecheck matmul/tiled_no_load_barrier
  step "racecheck objects to matmul/tiled_no_compute_barrier" objects racecheck matmul/tiled_no_compute_barrier
else
  echo "== compute-sanitizer is not installed: skipped"
fi
if command -v ncu >/dev/null; then
  step "counters against Nsight Compute" scripts/compare_ncu.py "$gpuexp" configs/transpose.json --filter rows=8192
else
  echo "== ncu is not installed: skipped"
fi

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "all GPU checks passed"
