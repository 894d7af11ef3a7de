# SPDX-License-Identifier: MIT
"""docs/LAB.md: every command in it runs, and prints what the tour shows."""

import os
import re
import shlex
import unittest

from harness import attend, main

TOUR = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "LAB.md")


def commands():
    """Pairs of a command line, as words, and the lines that the tour shows below it."""
    with open(TOUR, encoding="utf-8") as tour:
        blocks = re.findall(r"^```console\n(.*?)^```$", tour.read(), re.M | re.S)
    found = []
    for line in "\n".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line[2:], comments=True), []))
        elif line.strip():
            found[-1][1].append(line.split())
    return found


def near(shown, printed):
    """Whether two cells of a table are the same but for rounding."""
    if shown == printed:
        return True
    try:
        shown, printed = float(shown), float(printed)
    except ValueError:
        return False
    return abs(shown - printed) <= max(1e-9, 1e-4 * abs(shown))


class Tour(unittest.TestCase):
    def test_has_commands(self):
        self.assertGreater(len(commands()), 30)
        self.assertTrue(all(words[0] == "attend" for words, _ in commands()))

    def test_commands_print_what_is_shown(self):
        for words, shown in commands():
            if words[1] == "report":  # takes long, and has its own test
                continue
            if words[1] == "lab" and shown:
                words = [*words, "--no-sweep"]
            done = attend(*words[1:])
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
            rows = {}
            for line in done.stdout.splitlines():
                cells = line.split()
                if cells:
                    rows.setdefault(cells[0], cells)
            for cells in shown:
                printed = rows.get(cells[0], [])
                same = len(cells) == len(printed) and all(map(near, cells[:4], printed))
                self.assertTrue(same, f"{words}: shown {cells}, printed {printed}")


if __name__ == "__main__":
    main()
