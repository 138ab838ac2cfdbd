#!/usr/bin/env bash
# Sets up, builds gpuexp and runs the main job: the TILE sweep of tiled matrix multiplication, with or without a GPU.
#   scripts/quickstart.sh [ARGUMENT...]    arguments go to `gpuexp run` instead of configs/tile_sweep.json
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
fi

scripts/install_packages.sh
echo "Building build/release/gpuexp: a few minutes on two cores, about twice as long with a CUDA toolkit ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {  # on a terminal ninja shows its progress in one line
  if [[ -t 1 ]]; then cmake --build --preset release; else cmake --build --preset release >"$log" 2>&1; fi
}
if ! { cmake --preset release >"$log" 2>&1 && build; }; then
  tail -n 40 "$log" >&2
  exit 1
fi
if [[ $# -eq 0 ]]; then
  set -- configs/tile_sweep.json
fi
build/release/gpuexp run "$@"
