"""Sums test reports into "N passed, M failed, K skipped". Usage: tally.py REPORT.xml...

A JUnit report of ctest or pytest. A ctest program that counts its own cases (cmocka, or a last line
"N passed, M failed") counts as that many; any other one as one.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


def counts_of(case):
    said = "".join(part.text or "" for part in case.findall("system-out"))
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) test", said, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) test\(s\), listed below", said, re.M))
    skipped = sum(int(n) for n in re.findall(r"^\[  SKIPPED \] (\d+) test\(s\), listed below", said, re.M))
    for line in re.findall(r"^(\d+) passed, (\d+) failed$", said, re.M)[-1:]:
        passed, failed = int(line[0]), int(line[1])
    broken = case.find("failure") is not None or case.find("error") is not None
    if case.get("status") in {"fail", "notrun"}:
        broken = broken or case.get("status") == "fail" or case.find("skipped") is None
    if broken and failed == 0:
        failed = 1
    elif not broken and passed + failed == 0:
        if case.find("skipped") is not None:
            skipped += 1
        else:
            passed = 1
    return passed, failed, skipped


def main():
    total = [0, 0, 0]
    for path in sys.argv[1:]:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            total = [a + b for a, b in zip(total, counts_of(case))]
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))


main()
