"""The command as scripts see it."""
import subprocess


def test_version_is_one_line(tarn):
    assert tarn("--version").startswith("tarn ")


def test_wrong_usage_says_nothing_on_stdout(tarn_bin):
    done = subprocess.run([tarn_bin, "nonsense"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nonsense" in done.stderr
