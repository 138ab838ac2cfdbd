#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that gpuexp builds with; with --tests also those its tests and checks need.
# Does nothing when they are all there. Needs root or sudo only when something is missing.
#   scripts/install_packages.sh [--tests]
set -euo pipefail

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
fi
packages=(g++ cmake ninja-build git libcli11-dev nlohmann-json3-dev libfmt-dev libdw-dev)
if [[ "${1:-}" == --tests ]]; then
  packages+=(ccache libgtest-dev libgmock-dev libbenchmark-dev clang clang-format python3 python3-jsonschema
             python3-matplotlib python3-plotly flake8 shellcheck)
elif [[ $# -gt 0 ]]; then
  echo "usage: $0 [--tests]" >&2
  exit 2
fi

missing=()
for package in "${packages[@]}"; do
  if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "$0: these packages are missing and there is no sudo to install them: ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
}
install update
install install --no-install-recommends "${missing[@]}"
