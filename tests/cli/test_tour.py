# SPDX-License-Identifier: MIT
"""docs/LAB.md: every command in it runs, and prints the shown output.

Sentences of the laboratory, against numbers at the parameters that they name."""

import json
import math
import os
import re
import shlex
import subprocess
import unittest

from harness import BIN, attend, read

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
TOUR = os.path.join(ROOT, "docs", "LAB.md")
TRIALS = "2000"
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


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def performed(*args):
    """The rows of an experiment at its parameters, by quantity, and what it prints last."""
    args = "lab", *map(str, args), "--no-sweep", "--trials", TRIALS
    rows = [json.loads(line) for line in attend(*args, "--json").stdout.splitlines()]
    return {row["quantity"]: row for row in rows}, " ".join(attend(*args).stdout.split())


def question(name):
    """The words of a question, from the source."""
    with open(os.path.join(ROOT, "lab", "report", "questions.c"), encoding="utf-8") as file:
        part = file.read().split(f'.id = "{name}"')[1].split(".id =")[0]
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', part)).replace("\\\\", "\\")


class Sentences(unittest.TestCase):
    def test_two_heads_beyond_the_crossover(self):
        rows, sentence = performed("heads", "--C", 2.3)
        lost = phi((math.log(9) / 2.3 - 1) / math.sqrt(0.5))
        self.assertAlmostEqual(rows["p_head1_loses"]["theory"], lost, delta=1e-9)
        self.assertLess(rows["crossover_C"]["theory"], 2.3)
        words = question("1e")
        self.assertIn(f"{rows['crossover_C']['theory']:.2f} at $n = 10$", words)
        self.assertIn("half of the samples", words)
        self.assertAlmostEqual(lost, 0.475, delta=5e-4)
        self.assertIn(f"{100 * phi(-math.sqrt(2)):.0f}%", words)
        self.assertIn("Head 1 loses v_a", sentence)

    def test_the_variance_of_head_1(self):
        rows, _ = performed("heads")
        words = question("1d-ii")
        self.assertIn(f"{rows['var_c1']['theory']:.2f} at $n = 10$, $C = 10$", words)
        self.assertIn(f"{rows['var_c1_given_positive']['theory']:.2f} where", words)
        p = phi(math.sqrt(2))
        self.assertIn(f"{1 / (p * (1 - p)):.1f} times smaller", words)

    def test_a_bottleneck_hands_at_most_m_values_on(self):
        rows, sentence = performed("variants")
        self.assertIn("at most m values", sentence)
        self.assertLessEqual(rows["bottleneck_copied"]["measured"], rows["bottleneck_copied"]["theory"])

    def test_tokens_are_moved(self):
        """With few tokens as well the permutation that is drawn is not the identity."""
        for tokens in 2, 3:
            for seed in range(1, 9):
                args = "permute", "--T", tokens, "--d", 2, "--mask", "causal", "--seed", seed
                rows, _ = performed(*args)
                for name in "defect_rows", "defect_columns":
                    self.assertGreater(rows[name]["measured"], 1e-6, (args, name))

    def test_normalised_keys_keep_a_sign(self):
        rows, _ = performed("remedies", "--remedy", "qk-norm")
        self.assertAlmostEqual(rows["var_a"]["theory"], 0.0181, delta=5e-5)
        p = phi(-math.sqrt(2))  # the share of turned keys, each near v_b
        self.assertAlmostEqual(rows["var_a"]["theory"], p * (1 - p) / 4, delta=5e-5)
        with open(os.path.join(ROOT, "docs", "LAB.md"), encoding="utf-8") as file:
            self.assertIn("keep the sign of a length", file.read().replace("\n", " "))

    def test_equal_weights_have_no_variance_and_a_large_error(self):
        rows, sentence = performed("remedies", "--remedy", "cap", "--cap", 0.001)
        self.assertLess(rows["var_a"]["theory"], 1e-8)
        self.assertAlmostEqual(rows["mse"]["theory"], 1 / 2 - 1 / 10, delta=1e-3)
        self.assertIn("Apart from the bias, which only mse includes", sentence)
        rows, sentence = performed("heads", "--queries", "unscaled")
        self.assertLess(rows["mse_two"]["theory"], rows["mse_one"]["theory"])
        self.assertLess(rows["mse_one"]["theory"], 1 / 2 - 1 / 10)
        self.assertIn("1/2 - 1/n with equal weights on all keys", sentence)

    def test_the_limit_of_tokens_and_heads_is_in_the_help(self):
        said = attend("lab", "permute", "--help").stdout
        most = int(re.search(r"h T T is at most (\d+)", said)[1])
        self.assertEqual(attend("lab", "permute", "--T", "2048", "--d", "64", "--h", "4").returncode, 2)
        self.assertGreater(4 * 2048**2, most)
        self.assertEqual(2 * 2048**2, most)


class DesignSentences(unittest.TestCase):
    def test_without_noise_one_head_reaches_any_leak(self):
        said = attend("design", "average", "--items", "3,7", "--eps", "1e-6").stdout
        leak = re.search(r"(?m)^leak +(\S+)", said)
        self.assertLessEqual(float(leak[1]), 1.000001e-6)
        self.assertIn("one head reaches any leak by its scale", said)

    def test_an_error_of_rounding_is_0(self):
        said = attend("design", "average", "--n", "2", "--items", "0,1").stdout
        errors = re.findall(r"(?m)^ +[12] +\S+ +(\S+)$", said)
        self.assertEqual(errors, ["0", "0"])

    def test_long_queries_are_named(self):
        args = "design", "weights", "--items", "1,2", "--weights", "0.8,0.2", "--n", "20"
        said = attend(*args).stdout
        self.assertIn("queries  20 numbers each", said)
        query = json.loads(attend(*args, "--json").stdout.splitlines()[0])["queries"][0]
        self.assertEqual(len(query), 20)
        norm = re.search(r"\|q\| ([\d.]+);", said)
        self.assertAlmostEqual(float(norm[1]) / math.hypot(*query), 1, delta=1e-5)


class SheetSentences(unittest.TestCase):
    def test_a_difference_of_one_over_the_gap(self):
        """002-6: its threshold is that of weights 1/2 +- 1/(4 gap)."""
        lines = attend("sheets", "002", "--json").stdout.splitlines()
        row = next(row for row in map(json.loads, lines) if row["id"] == "002-6")
        self.assertIn("a difference of 1/gap", row["holds_when"])
        told = float(re.search(r"below 0.01 from ([\d.]+) at n = 10", row["holds_when"])[1])
        self.assertAlmostEqual(told / (math.sqrt(2) / 4 / 0.01), 1, delta=2e-3)


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
