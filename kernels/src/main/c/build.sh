#!/bin/sh
# Compiles the native kernels of the CPU backend: build.sh OUT JAVA_HOME
# Writes linux-x86_64/libradixflow-cpu.so and native.properties, its description, into OUT. Without gcc, or on a system other than
# Linux on x86-64, it writes only native.properties, with the reason, and the backend computes in Java. It compiles only
# if sources, flags or compiler have changed.
set -eu

cd "$(dirname "$0")"
out=$1
java_home=$2
library=$out/linux-x86_64/libradixflow-cpu.so
# Without contraction the results are equal, bit for bit, to the results of the Java code.
flags='-std=c11 -O3 -mavx2 -mfma -mf16c -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra'

without() {
  rm -f "$library"
  printf 'native=false\nreason=%s\n' "$1" >"$out/native.properties"
  echo "this build will contain no native CPU kernels: $1"
  exit 0
}

mkdir -p "${library%/*}"
[ "$(uname -sm)" = 'Linux x86_64' ] || without 'it was built on another system than Linux on x86-64'
command -v gcc >/dev/null || without 'gcc was not found when this was built'
[ -e "$java_home/include/jni.h" ] || without "the JDK that built this has no include/jni.h"
version=$(gcc -dumpfullversion)
[ "${version%%.*}" -ge 11 ] || without "gcc is $version, which does not know AVX-VNNI; 11 or newer is needed"

hash=$({ printf '%s\n' "$version" "$flags"; cat ./*.c ./*.h build.sh; } | sha256sum | cut -d ' ' -f 1)
if [ -e "$library" ] && grep -qs "^sources.sha256=$hash$" "$out/native.properties"; then
  exit 0
fi

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
# variant SOURCE NAME FLAG...: the kernels of a file for one instruction set.
variant() {
  source=$1
  isa=$2
  shift 2
  # shellcheck disable=SC2086 # a list of flags
  gcc $flags "$@" "-DISA=$isa" -c "$source.c" -o "$objects/$source-$isa.o"
}
avx512='-mavx512f -mavx512bw -mavx512vl -mavx512vnni'
variant kernels avx2
variant kernels avxvnni -mavxvnni
# shellcheck disable=SC2086
variant kernels avx512vnni $avx512
variant attention avx2
variant rows avx2
# shellcheck disable=SC2086
variant attention avx512vnni $avx512
# shellcheck disable=SC2086
variant rows avx512vnni $avx512
# shellcheck disable=SC2086 # a list of flags
gcc $flags -I "$java_home/include" -I "$java_home/include/linux" -c repack.c -o "$objects/repack.o"
gcc -std=c11 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -I "$java_home/include" -I "$java_home/include/linux" \
  -shared jni.c jni_rows.c weights.c mapping.c "$objects"/*.o -o "$library"
printf 'native=true\ngcc=%s\nsources.sha256=%s\n' "$version" "$hash" >"$out/native.properties"
echo "native kernels for the CPU: gcc $version, $(wc -c <"$library") bytes"
