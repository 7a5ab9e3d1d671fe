# Help goes to stdout and lists every verb; each verb has a page with usage, options and an example.
tarn help >overview
tarn --help | cmp - overview
verbs=$(awk '/^  [a-z]/ { print $1 }' overview)
[ "$(echo "$verbs" | wc -l)" -ge 3 ]
for verb in $verbs; do
    tarn help "$verb" >page
    tarn "$verb" --help | cmp - page
    grep -q "^Usage: tarn $verb " page
    grep -q '^Example:' page
    grep -q -- '--help' page
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' page)" -le 110 ]
done
tarn man --help
