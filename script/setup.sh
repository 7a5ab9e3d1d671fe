# What the scripts share: finding out what is missing and installing it, on Debian. To be sourced.
#
# Nothing is installed that is there already, and root is needed only when something is missing.
# TARN_CACHE (default ~/.cache/tarn) keeps the Python environment between runs.

set -Eeuo pipefail
# a script never ends without a word
trap 'printf "%s: stopped at line %s\n" "${BASH_SOURCE[0]}" "$LINENO" >&2' ERR
exec </dev/null
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${TARN_CACHE:-${HOME:-$root/build}/.cache/tarn}

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

build_packages="gcc libc6-dev cmake ninja-build pkg-config libzstd-dev libsnappy-dev liblz4-dev
    libdeflate-dev zlib1g-dev libbrotli-dev libjansson-dev libxxhash-dev"
test_packages="libcmocka-dev binutils dpkg-dev file clang libclang-rt-14-dev libfuzzer-14-dev python3 python3-venv
    util-linux"

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

apt_get() {
    local sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"
}

# need_packages WHY PACKAGE...
need_packages() {
    local why=$1 missing log
    shift
    command -v dpkg-query >/dev/null || { say "not a Debian: taking for granted what is needed for $why: $*"; return; }
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
        die "root is needed once, for: apt-get install $missing"
    fi
    say "installing for $why: $missing"
    log=$(mktemp)
    # the lists of a fresh machine are empty or old: then update, and try that twice
    if ! apt_get install -y --no-install-recommends $missing >"$log" 2>&1; then
        apt_get update >"$log" 2>&1 || { sleep 5; apt_get update >"$log" 2>&1; } || { cat "$log" >&2; die "apt-get update failed"; }
        apt_get install -y --no-install-recommends $missing >"$log" 2>&1 || { cat "$log" >&2; die "apt-get install failed"; }
    fi
    rm -f "$log"
}

# An environment of its own, since Debian's pip refuses others; made anew when the pins change.
# Sets $python.
need_python() {
    local pins=$root/tests/interop/requirements.txt venv=$cache/venv
    if [ -n "${TARN_PYTHON:-}" ]; then
        python=$TARN_PYTHON
        return
    fi
    python=$venv/bin/python
    if [ -x "$python" ] && cmp -s "$pins" "$venv/pins"; then
        return
    fi
    say "installing for the interop tests, into $venv: $(tr '\n' ' ' <"$pins")"
    mkdir -p "$cache"
    python3 -m venv --clear "$venv" || die "python3 -m venv failed"
    local log=$cache/pip.log
    pip_install() { "$venv/bin/pip" install -q --disable-pip-version-check --retries 5 -r "$pins" >"$log" 2>&1; }
    pip_install || pip_install || { cat "$log" >&2; die "pip install failed"; }
    cp "$pins" "$venv/pins"
}

need_java() {
    command -v java >/dev/null || need_packages "Spark, the peer of the interop tests" default-jre-headless
    # fetches the bundles of Hudi (tests/oracle/setup)
    command -v mvn >/dev/null || need_packages "Hudi, the peer of the interop tests" maven
    # a system fresh from debootstrap has no /etc/hosts, and Spark's Python talks to its JVM at "localhost"
    if ! getent hosts localhost >/dev/null && [ -w /etc ]; then
        say "localhost has no address here: adding it to /etc/hosts"
        echo "127.0.0.1 localhost" >>/etc/hosts
    fi
}

# build PRESET [TARGET...]; ends with the errors when it fails.
build() {
    local preset=$1 log=$root/build/$1.log
    shift
    mkdir -p "$root/build"
    say "building $preset"
    if ! { cmake -S "$root" --preset "$preset" && cmake --build "$root/build/$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
        grep -E -A3 'error:|FAILED:|undefined reference|CMake Error' "$log" >&2 || tail -30 "$log" >&2
        return 1
    fi
}
