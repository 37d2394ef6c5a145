#!/bin/sh
# Builds the emulated CUDA device: build.sh OUT JAVA_HOME
# OUT gets libcuda.so.1 (the driver), radixflow-host.so (the kernels, compiled for the host), probes.so (kernels that test
# the emulator) and emulator.properties. Without g++ it gets only the last, with the reason. Each library is built again
# only when its sources changed.
set -eu

cd "$(dirname "$0")"
out=$1
java_home=$2
kernels=../../main/cuda
# No -ffast-math and no contraction: a kernel gives the same bits however the compiler orders its work.
common='-std=c++17 -fPIC -fvisibility=hidden -shared -Wall -Wextra'
# other compilers than CI's may know other warnings
[ "${RADIXFLOW_REQUIRE_EMULATOR:-}" != true ] || common="$common -Werror"
module_flags="$common -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -mtls-dialect=gnu2 -Wno-unknown-pragmas"
driver_flags="$common -O2 -Wl,-soname,libcuda.so.1"

without() {
  rm -f "$out"/*.so "$out"/*.so.1
  printf 'emulator=false\nreason=%s\n' "$1" >"$out/emulator.properties"
  echo "no emulated CUDA device: $1"
  exit 0
}

# unchanged LIBRARY HASH: whether the library was built from sources of that hash.
unchanged() {
  [ -e "$out/$1" ] && grep -qs "^$1=$2$" "$out/emulator.properties"
}

hash_of() {
  { g++ -dumpfullversion; cat "$@"; } | sha256sum | cut -d ' ' -f 1
}

mkdir -p "$out"
[ "$(uname -sm)" = 'Linux x86_64' ] || without 'JCuda has natives for Linux on x86-64 only'
command -v g++ >/dev/null || without 'g++ was not found when the tests were built'
[ -e "$java_home/include/jni.h" ] || without "$java_home has no include/jni.h; build with a whole JDK"
if grep -q avx2 /proc/cpuinfo; then
  module_flags="$module_flags -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt"
fi

module=$(hash_of build.sh simt/* "$kernels"/*.cu "$kernels"/*.cuh)
probes=$(hash_of build.sh simt/* probes/* "$kernels/device.cuh" "$kernels/warpgroup.cuh")
driver=$(hash_of build.sh driver/* simt/launch.h)
from=$(date +%s)
building=
# shellcheck disable=SC2086 # lists of options
if ! unchanged radixflow-host.so "$module"; then
  g++ $module_flags -I simt -I "$kernels" -o "$out/radixflow-host.so" -x c++ "$kernels/radixflow.cu" simt/*.cpp &
  building="$building $!"
fi
# shellcheck disable=SC2086
if ! unchanged probes.so "$probes"; then
  g++ $module_flags -I simt -I "$kernels" -o "$out/probes.so" -x c++ probes/probes.cu simt/*.cpp &
  building="$building $!"
fi
# shellcheck disable=SC2086
if ! unchanged libcuda.so.1 "$driver"; then
  g++ $driver_flags -I "$java_home/include" -I "$java_home/include/linux" -o "$out/libcuda.so.1" driver/*.cpp -lpthread -ldl &
  building="$building $!"
fi
[ -n "$building" ] || exit 0
rm -f "$out/emulator.properties"
for process in $building; do
  wait "$process"
done
cat >"$out/emulator.properties" <<END
emulator=true
radixflow-host.so=$module
probes.so=$probes
libcuda.so.1=$driver
END
echo "emulated CUDA device: $(($(date +%s) - from)) s"
