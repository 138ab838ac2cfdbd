#!/usr/bin/env bash
# Sets up, builds gpuexp and runs the main job: the TILE sweep of tiled matrix multiplication, with or without a GPU.
# Arguments go to `gpuexp run` instead of configs/tile_sweep.json.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building (build/release/gpuexp) ..."
if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  exit 1
fi
if [[ $# -eq 0 ]]; then
  set -- configs/tile_sweep.json
fi
build/release/gpuexp run "$@"
