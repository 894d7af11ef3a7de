# SPDX-License-Identifier: MIT
"""attend judge: a solution given back marked, as text, as JSON and as a page; files that cannot be read."""

import json
import os
import pty
import re
import subprocess
import unittest

from harness import BIN, ENVIRONMENT, CliTest, attend, main
from html_pages import Browser, Page

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RIGHT = os.path.join(ROOT, "examples", "solutions", "ada.md")
WRONG = os.path.join(ROOT, "examples", "solutions", "ben.txt")
VERDICTS = {"true", "limit", "slip", "false", "not_read", "not_judged"}
WORDS = {"limit": "true in the limit", "not_read": "not read", "not_judged": "not judged"}
# Runs inside the page: text that lies over other text, or outside of the page.
PROBE = """<script>
addEventListener('load', () => {
  const boxes = [...document.querySelectorAll('.words, .notes')].map(e => e.getBoundingClientRect());
  const cut = boxes.filter((a, i) => a.right > innerWidth + 1 || boxes.slice(i + 1).some(b =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2));
  parent.postMessage(JSON.stringify({
    width: innerWidth, scroll: document.documentElement.scrollWidth, cut,
    notes: document.querySelectorAll('.remark').length,
    fetched: performance.getEntriesByType('resource').map(e => e.name),
  }), '*');
});
</script>"""
CLAIM = "file line quote question verdict evidence formula claim query letters repair exact computed expected"
LAST = "file letters conflicts questions points of coverage"


def judged(*files):
    """The objects of --json: claims, and the last of each file."""
    done = attend("judge", "--json", *files)
    if done.returncode != 0:
        raise AssertionError(f"{done.returncode}: {done.stderr}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if "verdict" in row], [row for row in rows if "coverage" in row]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.right, (cls.of_right,) = judged(RIGHT)
        cls.wrong, (cls.of_wrong,) = judged(WRONG)

    def test_objects(self):
        for path, claims, last in ((RIGHT, self.right, self.of_right), (WRONG, self.wrong, self.of_wrong)):
            self.assertEqual(set(last), set(LAST.split()))
            lines = read(path).splitlines()
            self.assertGreater(len(claims), 10)
            self.assertEqual([one["line"] for one in claims], sorted(one["line"] for one in claims))
            for one in claims:
                self.assertEqual(set(one), set(CLAIM.split()))
                self.assertEqual(one["file"], path)
                self.assertIn(one["verdict"], VERDICTS)
                first = one["quote"].split("\n")[0][:12].strip()
                self.assertIn(first, " ".join(lines[one["line"] - 1 : one["line"] + 1]), one)
                if one["verdict"] not in ("true", "not_judged"):
                    self.assertTrue(one["evidence"], one)
                self.assertEqual(bool(one["repair"]), one["verdict"] == "slip", one)

    def test_a_right_solution_has_no_error(self):
        bad = [one for one in self.right if one["verdict"] in ("slip", "false")]
        self.assertEqual(bad, [])
        held = [one for one in self.right if one["verdict"] in ("true", "limit")]
        self.assertGreater(len(held), 15)
        self.assertGreater(self.of_right["points"], self.of_wrong["points"])

    def test_three_typical_errors_are_found(self):
        def on(line):
            return [
                one
                for one in self.wrong
                if read(WRONG).splitlines()[one["line"] - 1].lstrip().startswith(line)
            ]

        self.assertIn("false", {one["verdict"] for one in on("(b) i.")})
        (weight,) = [one for one in on("alpha_a = exp(beta) / (m") if one["verdict"] == "slip"]
        self.assertIn("n", weight["repair"])
        self.assertIn("false", {one["verdict"] for one in on("c_1 ~=")})

    def test_coverage_counts_the_claims(self):
        for claims, last in ((self.right, self.of_right), (self.wrong, self.of_wrong)):
            coverage = last["coverage"]
            self.assertLessEqual(coverage["formulas_read"], coverage["formulas"])
            self.assertLessEqual(coverage["sentences_read"], coverage["sentences"])
            counted = [one for one in claims if one["verdict"] not in ("not_read", "not_judged")]
            self.assertEqual(coverage["judged"], len(counted))
            self.assertAlmostEqual(last["points"], sum(one["points"] for one in last["questions"]))


class Text(CliTest):
    def test_the_sheet_line_by_line(self):
        told = self.succeed("judge", WRONG)
        claims, (last,) = judged(WRONG)
        shown = {}
        for row in told.partition("\nletters:")[0].splitlines():
            found = re.match(r" {0,3}(\d{1,4}) ?(.{0,21})(.*)$", row)
            if found:
                shown[int(found[1])] = (found[2].strip(), found[3])
        for number, line in enumerate(read(WRONG).splitlines(), 1):
            self.assertEqual(shown[number][1].split()[:4], line.split()[:4], number)
        for one in claims:
            if one["verdict"] in ("false", "slip", "limit", "not_read"):
                self.assertIn(one["evidence"].split()[0], told)
        worst = {one["line"] for one in claims if one["verdict"] == "false"}
        self.assertEqual({number for number, (mark, _) in shown.items() if mark.startswith("false")}, worst)
        coverage = last["coverage"]
        self.assertIn(f"{coverage['formulas_read']} of {coverage['formulas']} formulas", told)
        self.assertLessEqual(max(map(len, told.splitlines())), 88)

    def test_true_claims_are_explained_on_demand(self):
        quiet, explained = (self.succeed("judge", RIGHT, *flags) for flags in ((), ("--explain",)))
        self.assertNotIn("read as:", quiet)
        self.assertIn("read as:", explained)
        self.assertGreater(len(explained.splitlines()), len(quiet.splitlines()))

    def test_what_is_not_judged_is_marked_on_demand(self):
        claims, _ = judged(RIGHT)
        self.assertIn("not_judged", {one["verdict"] for one in claims})
        self.assertNotIn("not judged", self.succeed("judge", RIGHT))
        self.assertIn("not judged", self.succeed("judge", RIGHT, "--all"))

    def test_colours_on_a_terminal_alone(self):
        def on_terminal(**more):
            ours, theirs = pty.openpty()
            with subprocess.Popen(
                [BIN, "judge", WRONG], stdout=theirs, env={**ENVIRONMENT, **more}
            ) as process:
                os.close(theirs)
                told = b""
                try:
                    while part := os.read(ours, 1 << 16):
                        told += part
                except OSError:
                    pass  # Linux: the other end is closed
                os.close(ours)
            self.assertEqual(process.returncode, 0)
            return told.decode()

        self.assertNotIn("\033", self.succeed("judge", WRONG))
        self.assertIn("\033[1;31mfalse", on_terminal())
        self.assertNotIn("\033", on_terminal(NO_COLOR="1"))

    def test_control_characters_are_not_printed(self):
        with open(self.path("odd.txt"), "w", encoding="utf-8") as file:
            file.write("q = \033[31m beta\t(k_a + k_b)\r\n\x07\n")
        told = self.succeed("judge", "odd.txt")
        self.assertFalse(set(told) & {"\033", "\x07", "\r", "\t"}, told)


class Files(CliTest):
    def test_standard_input(self):
        done = subprocess.run(
            [BIN, "judge", "-", "--json"],
            input=read(WRONG),
            capture_output=True,
            encoding="utf-8",
            env=ENVIRONMENT,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        claims, _ = judged(WRONG)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({row.pop("file") for row in rows}, {"standard input"})
        self.assertEqual(rows[:-1], [{k: v for k, v in one.items() if k != "file"} for one in claims])

    def test_bad_files_do_not_stop_others(self):
        with open(self.path("latin.txt"), "wb") as file:
            file.write(b"na\xefve $q$")
        with open(self.path("zero.txt"), "wb") as file:
            file.write(b"q\0q")
        with open(self.path("large.txt"), "wb") as file:
            file.write(b" " * ((1 << 20) + 1))
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        bad = {
            "latin.txt": "byte 3: this is not UTF-8",
            "zero.txt": "byte 2: this is not UTF-8",
            "large.txt": "more than 1048576 bytes",
            "folder": "not a file",
            "pipe": "not a file",
            "absent.txt": "No such file",
        }
        done = self.attend("judge", "--json", *bad, WRONG)
        self.assertEqual(done.returncode, 2)
        said = done.stderr.splitlines()
        self.assertEqual(len(said), len(bad))
        for line, (name, why) in zip(said, bad.items()):
            self.assertIn(f"{name}: ", line)
            self.assertIn(why, line)
        self.assertEqual({json.loads(line)["file"] for line in done.stdout.splitlines()}, {WRONG})

    def test_empty_files(self):
        for name, content in (("empty.txt", ""), ("blank.txt", " \n\n"), ("words.txt", "no newline")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(content)
            (last,) = judged(self.path(name))[1]
            self.assertEqual(last["coverage"]["judged"], 0)
            self.succeed("judge", name)

    def test_usage(self):
        self.refuse("judge", says="no file")
        self.refuse("judge", WRONG, "--html", says="--html")
        self.refuse("judge", WRONG, "--html", "absent/out.html", says=("--html", "absent/out.html"))
        self.refuse("judge", WRONG, "--explian", says="explain")

    def test_help_fits_a_screen(self):
        told = self.succeed("judge", "--help").splitlines()
        self.assertLessEqual(len(told), 40)
        self.assertLessEqual(max(map(len, told)), 88)
        self.assertIn("  attend judge examples/solutions/ada.md --html marked.html", told)


class Html(CliTest, Browser):
    def page(self, *files):
        told = self.succeed("judge", *files, "--html", "marked.html")
        self.assertEqual(len(told.splitlines()), len(files))
        return read(self.path("marked.html"))

    def test_one_page_without_requests(self):
        text = self.page(RIGHT, WRONG)
        parsed = Page(text)
        self.assertEqual(parsed.errors, [])
        self.assertEqual(parsed.open, [])
        self.assertEqual(len(parsed.ids), len(set(parsed.ids)))
        self.assertTrue(all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links))
        self.assertNotIn("script", parsed.tags)
        self.assertNotIn("@import", text)
        self.assertNotIn("url(", text)

    def test_every_claim_is_in_the_page(self):
        for file in RIGHT, WRONG:
            text = self.page(file)
            claims, (last,) = judged(file)
            ids = Page(text).ids
            for number in range(len(claims)):
                self.assertIn(f"s1-c{number + 1}", ids)
            for verdict in {one["verdict"] for one in claims}:
                self.assertIn(f'class="word">{WORDS.get(verdict, verdict)}</span>', text)
            coverage = last["coverage"]
            self.assertIn(f"{coverage['formulas_read']}\u202f/\u202f{coverage['formulas']}", text)
            for one in claims:
                if one["verdict"] in ("false", "slip"):
                    self.assertRegex(text, rf'<details class="remark {one["verdict"]}" id="[^"]*" open>')

    def test_formulas_are_set(self):
        text = self.page(RIGHT)
        formulas = len(re.findall(r"\$\$[^$]+\$\$|\$[^$]+\$", read(RIGHT)))
        shown = text.split('<div class="paper">')[1]
        notes = sum(part.count("<math") for part in re.findall(r'<p class="quote">.*?</p>', shown))
        self.assertEqual(shown.count("<math") - notes, formulas)

    def test_markup_of_a_solution_is_text(self):
        with open(self.path("evil.md"), "w", encoding="utf-8") as file:
            file.write('# <img src=x onerror=alert(1)>\n$q = <script>alert(1)</script>$ "&amp;" \'\n')
        text = self.page(self.path("evil.md"))
        self.assertNotIn("<script", text)
        self.assertNotIn("<img", text)
        self.assertIn("&amp;amp;", text)

    def test_nothing_half_written(self):
        done = self.attend("judge", "absent.txt", "--html", "none.html")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(self.path("none.html")))
        self.assertEqual([name for name in os.listdir(self.dir) if "tmp" in name], [])

    def test_fits_a_phone(self):
        text = self.page(RIGHT, WRONG)
        self.assertIn("default-src 'none'", text)
        # The probe is a script, which the page itself does not allow.
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        for width in 1280, 390, 320:
            found = self.browse(text, PROBE, width, self.dir)
            self.assertEqual(found["cut"], [])
            self.assertGreater(found["notes"], 10)


if __name__ == "__main__":
    main()
