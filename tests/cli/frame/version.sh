# One line, and the same by either name.
tarn --version | grep -Ex 'tarn [0-9]+\.[0-9]+\.[0-9]+' >/dev/null
[ "$(tarn --version)" = "$(tarn -V)" ]
