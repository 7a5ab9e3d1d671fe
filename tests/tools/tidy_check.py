#!/usr/bin/env python3
"""Shows that tools/tidy can fail: one bad tree per rule, and a good one that passes."""
import os
import subprocess
import sys
import tempfile

TIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/tidy")
LAYERS = "base :\nio : base\ntable : base io\nplan : table base\ncommit : table base io\ncli :\n"
GOOD = {
    "src/LAYERS": LAYERS,
    "include/tarn/status.h": "/* Words. */\n#include <stdint.h>\n#define TARN_API\n"
                             "TARN_API int tarn_word(int a);\n",
    "src/base/word.h": "/* W. */\n#ifndef TN_W_H\n#define TN_W_H\ntypedef struct tn_word {\n    int a;\n} tn_word;\n"
                       "int tn_word_of(int a);\n#endif\n",
    "src/base/word.c": "/* W. */\n#include \"base/word.h\"\nstatic const int table[] = {1, 2};\n"
                       "static const char *const names[] = {\"{;\"};\n"
                       "static int (*const calls[])(int) = {tn_word_of};\n"
                       "static int plain(int a)\n{\n    static const int b = 1;\n    return a + b;\n}\n"
                       "int tn_word_of(int a)\n{\n    return plain(a) + table[0] + (names[0] != 0);\n}\n",
    "src/table/model_write.h": "/* M. */\n",
    "src/cli/cmd.h": "/* C. */\n",
    "src/cli/commands.c": "/* C. */\n#include \"cmd.h\"\n&cmd_help, \"later\"\n",
    "src/cli/cmd_help.c": "/* H. */\n#include \"cmd.h\"\n",
}
# name, file, text (appended to the good one), what tidy must say of it
BAD = [
    ("door", "src/base/word.c", '#include "io/store.h"\n', "there is no door from base to io"),
    ("roomless", "src/base/word.c", '#include "word.h"\n', "does not name its room"),
    ("cli door", "src/cli/cmd_help.c", '#include "base/word.h"\n', "sees include/tarn and its own files only"),
    ("writer", "src/plan/p.c", '/* P. */\n#include "table/model_write.h"\n', "only commit may include it"),
    ("both ways", "src/LAYERS", "exec : op\nop : exec\n", "include each other"),
    ("prefix", "src/base/word.c", "int word_bare(void)\n{\n    return 1;\n}\n", "word_bare is shared and lacks"),
    ("cli prefix", "src/cli/cmd_help.c", "int help_me(void)\n{\n    return 1;\n}\n", "help_me is shared and lacks"),
    ("static prefix", "src/base/word.c", "static int tn_x(void)\n{\n    return 1;\n}\n", "static tn_x carries a prefix"),
    ("suffix", "src/base/word.h", "typedef int word_t;\n", "type word_t ends in _t"),
    ("global", "src/base/word.c", "static int count;\n", "a mutable variable outside functions: static int count"),
    ("array", "src/base/word.c", 'static const char *names2[] = {"a"};\n', "a mutable variable outside functions"),
    ("local", "src/base/word.c", "int tn_n(void)\n{\n    static int n;\n    return n++;\n}\n", "a mutable static"),
    ("condition", "src/plan/p.c", "/* P. */\n#ifdef X\n#endif\n", "#if belongs in base and io only"),
    ("comment", "src/plan/p.c", "int tn_p;\n", "does not open with a comment"),
    ("header", "include/tarn/bad.h", "/* B. */\nint32_t tarn_bad;\n", "does not compile alone as C11"),
    ("header C++", "include/tarn/bad.h", "/* B. */\nstatic inline int *f(void *class)\n{\n    return class;\n}\n",
     "does not compile alone as C++11"),
    ("export", "include/tarn/status.h", "int tarn_hidden(void);\n", "tarn_hidden lacks TARN_API"),
    ("umbrella", "include/tarn/tarn.h", "/* All. */\n", "does not include status.h"),
    ("no line", "src/cli/cmd_new.c", "/* N. */\n", "cmd_new.c is not in the table"),
    ("no file", "src/cli/commands.c", "&cmd_gone\n", "cmd_gone has no file"),
    ("test", "tests/unit/base/word_test.c", "static void test_word(void **state)\n", "is not collected"),
    ("word", "README.md", "As the assis" "tant said\n", "has no place here"),
    ("machine", "README.md", "see /ro" "ot/x\n", "has no place here"),
    ("long", "src/plan/p.c", "/* " + "x" * 100 + " */\n", "longer than 100 columns"),
]


def tidy(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        run = subprocess.run([sys.executable, TIDY, root], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


def main():
    failed = 0
    code, said = tidy(GOOD)
    if code != 0:
        print(f"the good tree: {said}")
        failed += 1
    for name, path, text, want in BAD:
        files = dict(GOOD)
        files[path] = files.get(path, "") + text
        code, said = tidy(files)
        if code == 0 or want not in said:
            print(f"{name}: wanted '{want}', got {code}: {said}")
            failed += 1
    print(f"{len(BAD) + 1 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
