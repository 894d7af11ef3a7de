# SPDX-License-Identifier: MIT
"""docs/LAB.md: every command in it runs, and prints the shown output."""

import os
import re
import shlex
import subprocess
import unittest

from harness import BIN, attend, read

TOUR = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "LAB.md")
LEFT_OUT = ["..."]


def beside(name):
    """A file of the build that contains the command."""
    return os.path.join(os.path.dirname(BIN), name)


def tour(path=TOUR):
    return read(path)


def built():
    """The tour with the words of the laboratory filled in."""
    return tour(beside("docs/LAB.md"))


def commands():
    """Pairs of a command line, as words, and the lines that the tour shows below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", tour(), re.M | re.S)
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


def same(shown, printed):
    """Whether two lines are equal; z, which rounding changes most, is not compared."""
    return len(shown) == len(printed) and all(map(near, shown[:4], printed)) and shown[5:] == printed[5:]


def table(text):
    """The lines of a table from its heading on, as words, without empty ones."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    heads = [n for n, line in enumerate(lines) if line[0] == "quantity"]
    return lines[heads[0] :] if heads else []


def mismatch(shown, printed):
    """The first shown line that is not where it should be; None: there is none.

    Lines follow one another as they are printed, and three dots stand for one or more.
    """
    at = 0
    for n, line in enumerate(shown):
        if line == LEFT_OUT:
            start = at + 1
            following = shown[n + 1] if n + 1 < len(shown) else None
            at = start if following else len(printed)
            while following and at < len(printed) and not same(following, printed[at]):
                at += 1
            if at < start or at > len(printed):
                return line
        elif at == len(printed) or not same(line, printed[at]):
            return line
        else:
            at += 1
    return None if at == len(printed) else ["the end"]


def slug(head):
    """The anchor of a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


class Tour(unittest.TestCase):
    def test_has_commands(self):
        self.assertGreater(len(commands()), 30)
        self.assertTrue(all(words[0] == "attend" for words, _ in commands()))

    def test_commands_print_what_is_shown(self):
        for words, shown in commands():
            if words[1] == "report":  # takes long; has a separate test
                continue
            if words[1] == "lab" and shown[-1:] == [LEFT_OUT]:
                words = [*words, "--no-sweep"]
            done = attend(*words[1:])
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
            if shown:
                printed = table(done.stdout)
                wrong = mismatch(shown, printed)
                self.assertIsNone(wrong, f"{words}: shown {shown}, printed {printed}")

    def test_what_is_left_out_must_be_marked(self):
        printed = table("head\n\nquantity theory\na 1\n\nb 2\nc 3\nwords\n")
        for shown, fault in (
            ("quantity theory;a 1;b 2;c 3;words", None),
            ("quantity theory;a 1;...", None),
            ("quantity theory;...;b 2;...;words", None),
            ("quantity theory;a 1;c 3;...", ["c", "3"]),
            ("quantity theory;a 1", ["the", "end"]),
            ("quantity theory;...;b 3;...", ["b", "3"]),
            ("quantity theory;...;a 1;...", ["a", "1"]),
            ("quantity theory;a 1;b 2;c 3;words;...", ["..."]),
        ):
            found = mismatch([line.split() for line in shown.split(";")], printed)
            self.assertEqual(found, fault and (["the end"] if fault[0] == "the" else fault), shown)

    def test_the_build_fills_in_the_words_of_the_laboratory(self):
        whole = built()
        self.assertNotIn("<!--", whole)
        for head in ("## 1a-i. Why ", "## Beyond the exercise: ", "### `attend lab copy`"):
            self.assertIn("\n" + head, whole)
        self.assertIn("| `p_top` | Weight of the wanted key: p\\_j = 1", whole)
        copied = tour().partition("<!-- lab: end -->\n")[2].splitlines()
        for line in copied:
            if not line.startswith(("#", "<!--")):
                self.assertIn(line, whole)

    def test_a_question_that_is_left_out_or_repeated_is_found(self):
        theory = os.path.join(os.path.dirname(TOUR), "THEORY.md")
        for text, fault in (
            (tour(), ""),
            (tour().replace("\n## 1e\n", "\n"), "question 1e: 0 times"),
            (tour() + "<!-- lab: things -->\n", "things: 2 times"),
        ):
            done = subprocess.run(
                [beside("lab_document"), theory], input=text, text=True, capture_output=True
            )
            self.assertEqual(done.returncode, 1 if fault else 0, done.stderr)
            self.assertIn(fault, done.stderr)

    def test_links_lead_somewhere(self):
        heads = re.findall(r"^#+ (.*)$", built(), re.M)
        anchors = {slug(head) for head in heads}
        found = re.findall(r"\]\(#([^)]*)\)", built())
        self.assertGreater(len(found), 19)
        for anchor in found:
            self.assertIn(anchor, anchors)
        heads = re.findall(r"^#+ (.*)$", read(os.path.join(os.path.dirname(TOUR), "THEORY.md")), re.M)
        for name, anchor in re.findall(r"\[(T\d+)\]\(THEORY\.md#([^)]*)\)", built()):
            (head,) = [head for head in heads if head.startswith(name + " ")]
            self.assertEqual(anchor, slug(head))
