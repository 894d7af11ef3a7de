# SPDX-License-Identifier: MIT
"""docs/LAB.md: every command in it runs, and prints what the tour shows."""

import html
import os
import re
import shlex
import unittest

from harness import attend, main

TOUR = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "LAB.md")
LEFT_OUT = ["..."]


def tour():
    with open(TOUR, encoding="utf-8") as file:
        return file.read()


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
    """Whether two lines are; z, which rounding moves most, is not compared."""
    return (
        len(shown) == len(printed)
        and all(map(near, shown[:4], printed))
        and shown[5:] == printed[5:]
    )


def table(text):
    """The lines of a table from its head on, as words, empty ones left out."""
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


def unescaped(cell):
    return html.unescape(re.sub(r"\\([_*|])", r"\1", cell))


def slug(head):
    """The anchor that a head has on GitHub."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


class Tour(unittest.TestCase):
    def test_has_commands(self):
        self.assertGreater(len(commands()), 30)
        self.assertTrue(all(words[0] == "attend" for words, _ in commands()))

    def test_commands_print_what_is_shown(self):
        for words, shown in commands():
            if words[1] == "report":  # takes long, and has its own test
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
            self.assertEqual(
                found, fault and (["the end"] if fault[0] == "the" else fault), shown
            )

    def test_every_quantity_is_explained_as_the_command_explains_it(self):
        listed = attend("lab").stdout.split("experiments:\n")[1].split("\n\n")[0]
        text = tour().split("\n## Every quantity\n")[1]
        for name in re.findall(r"^  (\S+)", listed, re.M):
            said = attend("lab", name, "--help").stdout
            said = said.split("\nquantities:\n")[1].split("\n\n")[0] + "\n"
            known = {
                quantity: " ".join(meaning.split())
                for quantity, meaning in re.findall(
                    r"^  (\S+)\n((?:      .*\n)+)", said, re.M
                )
            }
            part = text.split(f"\n### `attend lab {name}`\n")[1].split("\n### ")[0]
            rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", part, re.M)
            self.assertEqual(
                {quantity: unescaped(meaning) for quantity, meaning in rows}, known, name
            )
            self.assertGreater(len(known), 3, name)

    def test_links_lead_somewhere(self):
        heads = re.findall(r"^#+ (.*)$", tour(), re.M)
        anchors = {slug(head) for head in heads}
        for anchor in re.findall(r"\]\(#([^)]*)\)", tour()):
            self.assertIn(anchor, anchors)
        with open(os.path.join(os.path.dirname(TOUR), "THEORY.md")) as file:
            heads = re.findall(r"^#+ (.*)$", file.read(), re.M)
        for name, anchor in re.findall(r"\[(T\d+)\]\(THEORY\.md#([^)]*)\)", tour()):
            (head,) = [head for head in heads if head.startswith(name + " ")]
            self.assertEqual(anchor, slug(head))


if __name__ == "__main__":
    main()
