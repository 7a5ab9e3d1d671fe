# Completions are valid for their shell and name every verb; manual pages are made for all.
verbs=$(tarn help | awk '/^  [a-z]/ { print $1 }')
tarn completions bash >tarn.bash
bash -n tarn.bash
for shell in bash zsh fish; do
    tarn completions $shell >script
    for verb in $verbs; do
        grep -qw "$verb" script || { echo "$shell lacks $verb"; exit 1; }
    done
done
for verb in $verbs; do
    tarn man "$verb" >page
    grep -q '^\.SH OPTIONS' page
    grep -q '^\.SH SYNOPSIS' page
done
# the completion works
. ./tarn.bash
COMP_WORDS=(tarn comp) COMP_CWORD=1
_tarn
echo "${COMPREPLY[@]}"
COMP_WORDS=(tarn man --he) COMP_CWORD=2
_tarn
echo "${COMPREPLY[@]}"
