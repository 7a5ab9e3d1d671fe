# Wrong usage: status 2, a message that names the thing, what was meant, and the way to the help.
try() {
    local status=0

    echo "\$ tarn $*" >&2
    tarn "$@" || status=$?
    [ $status -eq 2 ] || { echo "exit $status"; exit 1; }
}
try
try hlep
try xyzzy
try --json
try man --hlep
try man --nothing-like-it
try man -x
try man --help=yes
try man one two
try completions
try completions tcsh
try man nothing
