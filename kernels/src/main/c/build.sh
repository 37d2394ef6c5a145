#!/bin/sh
# Compiles the native kernels of the CPU backend: build.sh OUT JAVA_HOME [all]
# Writes a library per platform and native.properties, their description, into OUT. The library of this machine's platform
# is compiled with gcc, clang or zig, whichever is there; if none is, pip installs zig into Radixflow's cache. The
# libraries of the other platforms are compiled if zig is in that cache; with "all", pip installs it. For a platform
# without a library the backend computes in Java. A library is compiled only if sources, flags or compiler have changed.
set -eu

cd "$(dirname "$0")"
out=$1
java_home=$2
all=${3:-}
case $(uname -sm) in
  'Linux x86_64') own=linux-x86_64 ;;
  'Linux aarch64') own=linux-aarch64 ;;
  'Darwin arm64') own=macos-aarch64 ;;
  *) own= ;;
esac
# Without contraction the results are equal, bit for bit, to the results of the Java code.
flags='-std=c11 -O3 -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra'
# the only place with the version is zig.txt
zig_version=$(sed -n 's/^ziglang==\([0-9.]*\).*/\1/p' zig.txt)
zig=${RADIXFLOW_HOME:-$HOME/.cache/radixflow}/zig-$zig_version
mkdir -p "$out"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

install_zig() {
  [ ! -e "$zig/complete" ] || return 0
  command -v python3 >/dev/null || return 1
  echo "installing zig $zig_version into $zig"
  rm -rf "$zig"
  python3 -m pip install --quiet --root-user-action=ignore --target "$zig" --require-hashes -r zig.txt || return 1
  touch "$zig/complete"
}

# newer OLD COMMAND...: whether the command prints a version that is newer than OLD.
newer() {
  old=$1
  shift
  command -v "$1" >/dev/null && version=$("$@" 2>/dev/null) && [ "${version%%.*}" -gt "$old" ]
}

digest() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

# Sets compiler to a command and its version for the platform of this machine. Older ones do not know AVX-VNNI.
own_compiler() {
  if newer 10 gcc -dumpfullversion; then
    compiler="gcc $version"
  elif newer 12 clang -dumpversion; then
    compiler="clang $version"
  elif install_zig; then
    compiler="zig $zig_version"
  else
    compiler=
  fi
}

# Sets cc to the command that compiles for a platform.
command_of() {
  cc=${compiler%% *}
  if [ "$cc" = zig ]; then
    case $1 in
      linux-*) target=${1#linux-}-linux-gnu.2.17 ;;
      macos-*) target="${1#macos-}-macos -Wl,-install_name,@rpath/libradixflow-cpu.dylib" ;;
    esac
    export ZIG_GLOBAL_CACHE_DIR="$zig/cache" ZIG_LOCAL_CACHE_DIR="$zig/cache"
    cc="$zig/ziglang/zig cc -target $target -s"
  fi
}

# variant SOURCE NAME FLAG...: compiles a file for one instruction set, while others are compiled.
variant() {
  source=$1
  isa=$2
  shift 2
  # shellcheck disable=SC2086 # lists of options
  $cc $flags "$@" "-DISA=$isa" -c "$source.c" -o "$objects/$source-$isa.o" &
  jobs="$jobs $!"
}

variants() {
  case $1 in
    *-x86_64)
      avx2='-mavx2 -mfma -mf16c'
      avx512="$avx2 -mavx512f -mavx512bw -mavx512vl -mavx512vnni"
      variant kernels avx2 $avx2
      variant kernels avxvnni $avx2 -mavxvnni
      variant kernels avx512vnni $avx512
      variant attention avx2 $avx2
      variant attention avx512vnni $avx512
      variant rows avx2 $avx2
      variant rows avx512vnni $avx512
      variant repack avx2 $avx2 -I . -I "$java_home/include"
      ;;
    *)
      for source in kernels attention rows; do
        variant "$source" neon
      done
      variant kernels neondot -mcpu=generic+dotprod
      variant repack neon -I . -I "$java_home/include"
      ;;
  esac
}

# compile PLATFORM: with the compiler of own_compiler or with zig.
compile() {
  case $1 in
    linux-*) library=$1/libradixflow-cpu.so ;;
    macos-*) library=$1/libradixflow-cpu.dylib ;;
  esac
  hash=$({ printf '%s\n' "$compiler"; cat ./*.c ./*.h build.sh; } | digest)
  description="$description$1=$compiler
$1.sha256=$hash
"
  if [ -e "$out/$library" ] && grep -qs "^$1.sha256=$hash$" "$out/native.properties"; then
    return 0
  fi
  mkdir -p "$out/$1"
  rm -f "$objects"/*
  command_of "$1"
  jobs=
  variants "$1"
  for job in $jobs; do
    wait "$job"
  done
  plain=
  for source in *.c; do
    case $source in kernels.c | attention.c | rows.c | repack.c) ;; *) plain="$plain $source" ;; esac
  done
  # shellcheck disable=SC2086 # lists
  $cc $flags -I . -I "$java_home/include" -shared $plain "$objects"/*.o -o "$out/$library"
  echo "native kernels for $1: $compiler, $(wc -c <"$out/$library") bytes"
}

description=
[ "$all" != all ] || install_zig
if [ ! -e "$java_home/include/jni.h" ]; then
  reason='the JDK that built this has no include/jni.h'
elif [ -n "$own" ]; then
  own_compiler
  reason='there was no gcc 11, no clang 13, and pip could not install zig when this was built'
  [ -z "$compiler" ] || compile "$own"
fi
if [ -e "$zig/complete" ] && [ -e "$java_home/include/jni.h" ]; then
  compiler="zig $zig_version"
  for platform in linux-x86_64 linux-aarch64 macos-aarch64; do
    [ "$platform" = "$own" ] || compile "$platform"
  done
fi
for platform in linux-x86_64 linux-aarch64 macos-aarch64; do
  case $description in *"$platform="*) ;; *) rm -rf "${out:?}/$platform" ;; esac
done
case $description in
  *"$own="*) reason='it was built for other platforms' ;;
  *) echo "this build will contain no native CPU kernels for this machine: $reason" ;;
esac
printf '%sreason=%s\n' "$description" "$reason" >"$out/native.properties"
