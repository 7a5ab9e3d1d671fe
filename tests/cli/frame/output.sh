# A full disk is a failure that is told; a reader that went away is none.
status=0
tarn help >/dev/full || status=$?
echo "full: $status"
# far more than a pipe holds
set +o pipefail
for i in 1 2 3; do
    tarn completions zsh | true
    [ "${PIPESTATUS[0]}" -eq 0 ]
done
