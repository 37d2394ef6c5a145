#!/bin/sh
# Compiles the device code: build.sh OUT [wheels]
# Writes radixflow.fatbin and device-code.properties, its description, into OUT. Looks for nvcc in CUDA_HOME, on the path,
# in /usr/local/cuda and in Radixflow's cache; with "wheels", pip installs nvcc into that cache. Without nvcc only
# device-code.properties is written. It compiles only if sources, flags or nvcc have changed.
set -eu

cd "$(dirname "$0")"
out=$1
wheels=${2:-}
nvcc_series=13.0
targets='-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80'
# A spilled register is an error.
flags='-std=c++17 -O3 --fatbin --compress-mode=size -Werror all-warnings -Xptxas --warn-on-spills,--warning-as-error'

without() {
  rm -f "$out/radixflow.fatbin"
  printf 'device.code=false\nreason=%s\n' "$1" >"$out/device-code.properties"
  echo "this build will contain no device code: $1"
  exit 0
}

home=${RADIXFLOW_HOME:-$HOME/.cache/radixflow}/nvcc-$nvcc_series
fetched=$home/nvidia/cu${nvcc_series%%.*}/bin/nvcc

install_wheels() {
  if [ ! -e "$home/complete" ]; then
    echo "installing nvcc $nvcc_series into $home"
    rm -rf "$home"
    for package in nvcc crt runtime cccl; do
      set -- "$@" "nvidia-cuda-$package==$nvcc_series.*"
    done
    python3 -m pip install --quiet --root-user-action=ignore --target "$home" "nvidia-nvvm==$nvcc_series.*" "$@"
    touch "$home/complete"
  fi
  nvcc=$fetched
}

mkdir -p "$out"
if [ "$wheels" = wheels ]; then
  install_wheels
elif [ -n "${CUDA_HOME:-}" ] && [ -x "$CUDA_HOME/bin/nvcc" ]; then
  nvcc=$CUDA_HOME/bin/nvcc
elif command -v nvcc >/dev/null; then
  nvcc=$(command -v nvcc)
elif [ -x /usr/local/cuda/bin/nvcc ]; then
  nvcc=/usr/local/cuda/bin/nvcc
elif [ -e "$home/complete" ]; then
  nvcc=$fetched
else
  without 'nvcc was not found when this was built; install a CUDA 13.0 toolkit or build with -Pcuda'
fi
command -v g++ >/dev/null || without 'nvcc needs g++, which was not found when this was built'

version=$("$nvcc" --version | sed -n 's/.*release .*, V\([0-9.]*\).*/\1/p')
case $version in
  "$nvcc_series".*) flags="$flags --compress-mode=size -Werror all-warnings" ;;
  [1-9].* | 1[01].*) without "$nvcc is $version, which does not know sm_90a; 12 or newer is needed" ;;
esac
hash=$({ printf '%s\n' "$version" "$targets" "$flags"; cat ./*.cu ./*.cuh; } | sha256sum | cut -d ' ' -f 1)
if [ -e "$out/radixflow.fatbin" ] && grep -q "^sources.sha256=$hash$" "$out/device-code.properties" 2>/dev/null; then
  exit 0
fi

from=$(date +%s)
failed=
# the threads are for the targets
# shellcheck disable=SC2086 # lists of options
log=$("$nvcc" --threads 0 $flags $targets -o "$out/radixflow.fatbin" radixflow.cu 2>&1) || failed=1
[ -z "$log" ] || printf '%s\n' "$log"
case $log in
  *'Performance Loss'*) failed=1 ;; # ptxas serialises the products of a warpgroup and only warns
esac
if [ -n "$failed" ]; then
  rm -f "$out/radixflow.fatbin"
  exit 1
fi
{
  echo device.code=true
  echo "nvcc=$version"
  echo 'targets=sm_80 sm_90a compute_80'
  echo "sources.sha256=$hash"
} >"$out/device-code.properties"
echo "device code: nvcc $version, $(wc -c <"$out/radixflow.fatbin") bytes, $(($(date +%s) - from)) s"
