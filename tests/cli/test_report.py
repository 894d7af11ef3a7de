# SPDX-License-Identifier: MIT
"""`attend report`: the summary, and the page as parsed and in a browser."""

import html
import os
import re
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree

import harness
from harness import EXPERIMENTS, CliTest
from html_pages import Browser, Page
from theory import LAB

QUESTION = re.compile(r'<section class="question" id="q-([^"]+)">(.*?)</section>', re.S)


# Runs inside the page: visible defects of the plots, and the fetched files.
PROBE = """<script>
addEventListener('load', () => {
  const bad = [];
  for (const svg of document.querySelectorAll('figure > svg')) {
    const box = svg.getBoundingClientRect(), name = svg.getAttribute('aria-label');
    const texts = [...svg.querySelectorAll('text')].map(
      t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([s, a], i) => {
      if (a.left < box.left - 1 || a.right > box.right + 1 || a.top < box.top - 1 ||
          a.bottom > box.bottom + 1) bad.push(name + ': cut off: ' + s);
      for (const [u, b] of texts.slice(i + 1)) {
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 1 && h > 0.35 * Math.min(a.height, b.height))
          bad.push(name + ': ' + s + ' over ' + u);
      }
    });
  }
  const root = document.documentElement, body = getComputedStyle(document.body);
  const svg = document.querySelector('figure > svg text.number');
  parent.postMessage(JSON.stringify({
    width: innerWidth, scroll: root.scrollWidth, bad,
    plots: document.querySelectorAll('figure > svg').length,
    fetched: performance.getEntriesByType('resource').map(e => e.name),
    background: body.backgroundColor, colour: body.color,
    size: svg.getBoundingClientRect().height,
  }), '*');
});
</script>"""


def made(directory, *args):
    """Makes a report in a directory; returns the printed text and the page."""
    path = os.path.join(directory, "report.html")
    done = harness.attend("report", "-o", path, "--trials", "1000", *args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout, harness.read(path)


class Report(Browser, CliTest):
    @classmethod
    def setUpClass(cls):
        cls.made_in = tempfile.mkdtemp(prefix="attend-report-")
        cls.addClassCleanup(shutil.rmtree, cls.made_in)
        cls.summary, cls.text = made(cls.made_in, "--seed", "7")
        cls.page = Page(cls.text)

    def test_summary(self):
        lines = self.summary.splitlines()
        for name in EXPERIMENTS:
            (line,) = [line for line in lines if line.startswith(name + " ")]
            counts = re.search(r" (\d+)/(\d+) +(\d+)/(\d+) +(\d+) ", line).groups()
            self.assertGreater(sum(map(int, counts)), 0, line)
        counts = re.search(
            r"^within 4 se of theory: (\d+) of (\d+) rows; bounds held: (\d+) of (\d+);\s"
            r"limits and first-order forms: (\d+)$",
            self.summary,
            re.M,
        ).groups()
        rows = re.findall(r"^\S+ +(\d+)/(\d+) +(\d+)/(\d+) +(\d+) ", self.summary, re.M)
        self.assertEqual(tuple(map(int, counts)), tuple(sum(int(n) for n in column) for column in zip(*rows)))
        counts = re.search(
            r"^(\d+) statements of the sheets: (\d+) true, (\d+) true in the limit, (\d+) false, (\d+) slip$",
            self.summary,
            re.M,
        ).groups()
        self.assertEqual(sum(map(int, counts[1:])), int(counts[0]))
        self.assertEqual(len(re.findall(r'<tr id="s00\d-\d+">', self.text)), int(counts[0]))
        for verdict, number in zip(("holds", "limit", "fails", "slip"), counts[1:]):
            cell = rf'</td><td><span class="verdict {verdict}"'
            rows = re.findall(rf'<tr id="s00\d-\d+">(?:(?!</td>).)*{cell}', self.text)
            self.assertEqual(len(rows), int(number), verdict)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_the_page_is_whole_and_stands_alone(self):
        self.assertEqual((self.page.open, self.page.errors), ([], []))
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))
        for link in self.page.links:
            self.assertTrue(link.startswith("#") and link[1:] in self.page.ids, link)
        for tag in "script", "link", "img", "iframe", "object", "embed", "base", "form":
            self.assertNotIn(tag, self.page.tags)
        self.assertNotRegex(self.text, r"https?:|//[a-z]+\.|url\(|@import")
        for name in (*EXPERIMENTS, "summary", "sheets", "disputes", "machine"):
            self.assertIn("#" + name, self.page.links)

    def test_every_plot_is_xml_with_axes(self):
        plots = re.findall(r"<figure>\n(<svg .*?</svg>)\n(?:<figcaption|</figure)", self.text, re.S)
        self.assertEqual(len(plots), self.page.tags.count("figure"))
        self.assertGreaterEqual(len(plots), 15)
        for plot in plots:
            root = ElementTree.fromstring(plot)
            name = root.get("aria-label")
            classes = [e.get("class", "").split() for e in root.iter()]
            kinds = {word for words in classes for word in words}
            self.assertLessEqual({"title", "label", "number", "tick", "frame"}, kinds, name)
            self.assertTrue(kinds & {"line", "point", "bar"} or root.findall(".//path[@fill]"), name)
            numbers = ["".join(e.itertext()) for e in root.iter("text") if e.get("class") == "number"]
            self.assertGreaterEqual(len(numbers), 4, name)
            for number in root.iter():
                for value in number.attrib.values():
                    self.assertNotRegex(value, r"\b(nan|inf)\b", name)

    def test_sections(self):
        parts = dict(re.findall(r'<section id="([^"]+)">(.*?)</section>', self.text, re.S))
        for name in EXPERIMENTS:
            part = parts[name]
            self.assertRegex(part, r"<figure>|Shown above: <a", name)
            self.assertIn(f"attend lab {name} ", part)
            self.assertRegex(part, r"<th>quantity</th>", name)
            own = part.split("<details>")[0]
            names = re.findall(r"<td><code>(\w+)</code>", own)
            self.assertEqual(own.count('class="meaning"'), len(names), name)
        statements = re.findall(r'<tr id="s(00\d-\d+)">', parts["sheets"])
        self.assertGreater(len(statements), 99)
        self.assertEqual(len(set(statements)), len(statements))
        self.assertRegex(parts["machine"], r"<dt>seed</dt><dd>7</dd>")
        said = harness.info()
        for word in said["version"], said["isa"], *said["cpu_features"]:
            self.assertIn(word, parts["machine"])

    def test_teaches_before_it_judges(self):
        ids = [i for i in self.page.ids if not re.match(r"s00\d-|sheet-|dispute-", i)]
        self.assertEqual(ids[:3], ["exercise", "remember", "glossary"])
        questions = [i for i in ids if i.startswith("q-")]
        self.assertEqual(ids[3 : 3 + len(questions)], questions)
        self.assertEqual(ids[-3:], ["disputes", "sheets", "machine"])
        for number in (
            "1a-i 1a-ii 1a-iii 1a-iv 1b-i 1b-ii 1c-i 1c-ii 1d-i 1d-ii 1e 2a-i 2a-ii " "2b-i 2b-ii 3g"
        ).split():
            self.assertIn("q-" + number, questions)

    def test_a_question_has_its_parts(self):
        parts = QUESTION.findall(self.text)
        self.assertEqual(len(parts), len([i for i in self.page.ids if i[:2] == "q-"]))
        source = os.path.join(os.path.dirname(__file__), "..", "..", "lab", "report")
        declared = harness.read(os.path.join(source, "questions.c")).split(".id = ")[1:]
        for (number, part), said in zip(parts, declared):
            figures = re.search(r"\.figure = \{(.*?)\},\s+\.", said, re.S)
            wanted = figures[1].count("{") if figures else 0
            self.assertEqual(part.count("<figure>"), wanted, number)
            numbers = re.search(r"\.number = \{(.*?)\},\s+\.", said, re.S)
            wanted = numbers[1].count("{") if numbers else 0
            self.assertEqual(part.count('class="meaning"'), wanted, number)
            for kind in "asks", "answer":
                self.assertEqual(part.count(f'<p class="{kind}">'), 1, number)
            for formula in re.findall(r"<math.*?</math>", part, re.S):
                ElementTree.fromstring(html.unescape(formula.replace("&lt;", "&amp;lt;")))
                self.assertNotRegex(formula.split("<annotation")[0], r"\\[a-zA-Z]")

    def test_statements_and_questions_lead_to_each_other(self):
        told = {}
        for number, part in QUESTION.findall(self.text):
            for statement in re.findall(r'href="#s(00\d-\d+)"', part):
                self.assertNotIn(statement, told)
                told[statement] = number
        rows = re.findall(r'<tr id="s(00\d-\d+)">(.*?)</tr>', self.text, re.S)
        self.assertEqual(len(told), len(rows))
        for statement, row in rows:
            self.assertIn(f'href="#q-{told[statement]}"', row)
            self.assertRegex(row, r'<q class="quote">.+</q> <span[^>]*>line \d+</span>', statement)
        disputes = re.findall(r'<tr id="dispute-(\d+)">(.*?)</tr>', self.text, re.S)
        said = re.search(r"^the sheets contradict each other on (\d+) points", self.summary, re.M)
        self.assertEqual(len(disputes), int(said[1]))
        for number, dispute in disputes:
            voices = set(re.findall(r'href="#s(00\d-\d+)"', dispute))
            self.assertGreaterEqual(len(voices), 2, number)
            for statement, row in rows:
                named = f'href="#dispute-{number}"' in row
                self.assertEqual(named, statement in voices, (number, statement))

    def test_numbers_are_those_of_the_experiments(self):
        """Reports with the same seed on any number of threads."""
        shown = re.compile(r"^(\S+) .* (\w+) +\S+ +(\S+) \u00b1 \S+$", re.M)
        rows = shown.findall(self.summary)
        self.assertGreater(len(rows), 7)
        for name, quantity, number in rows:
            args = "lab", name, "--trials", "1000", "--no-sweep", "--json"
            for seed in "7", "8":
                printed = self.objects(*args, "--seed", seed, "--threads", "1")
                found = {r["quantity"]: r for r in printed}
                same = f"{found[quantity]['measured']:.4g}" == number
                self.assertEqual(same, seed == "7", (name, seed, number))

    if harness.SCALE >= harness.WHOLE:  # two more reports

        def test_threads_and_no_page(self):
            with tempfile.TemporaryDirectory() as directory:
                summary, page = made(directory, "--seed", "7", "--threads", "1")
            threads = re.compile(r"<dt>threads</dt><dd>\d+</dd>")
            self.assertEqual(threads.sub("", page), threads.sub("", self.text))
            self.assertEqual(summary.splitlines()[:-2], self.summary.splitlines()[:-2])
            # Without a page the summary is the same except for its last line.
            other = self.succeed("report", "--trials", "1000", "--seed", "7")
            self.assertEqual(other.splitlines()[:-1], summary.splitlines()[:-2])
            self.assertEqual(os.listdir(self.dir), [])

    def test_window_tends_to_the_variance_of_the_winner(self):
        variance = LAB.window_limit(10, 1, 0).variance[0]
        text = " ".join(html.unescape(re.sub("<[^>]*>", "", self.text)).split())
        self.assertIn(f"tends to 0.25, 0.25 and {variance:.3g} for", text)

    def browse_report(self, width, *flags):
        said = self.browse(self.text, PROBE, width, self.dir, *flags)
        self.assertEqual(said["plots"], self.page.tags.count("figure"))
        self.assertEqual(said["bad"], [])
        return said

    def test_in_a_browser(self):
        light = self.browse_report(1400)
        self.assert_light(light)
        self.assertGreaterEqual(light["size"], 12)

    def test_in_the_dark(self):
        self.assert_dark(self.browse_report(1400, "--blink-settings=preferredColorScheme=0"))

    def test_on_a_phone(self):
        self.assertGreaterEqual(self.browse_report(360)["size"], 9)

    def test_refused(self):
        os.mkdir(self.path("folder"))
        for args, says in (
            (["-o", "no/such/report.html"], ("-o", "no/such/report.html", "allowed")),
            (["-o", "folder"], ("-o", "folder")),
            (["-o"], ": -o needs a value"),
            (["--output"], "--output needs a value"),
            (["-o", "a.html", "--output", "b.html"], "twice"),
            (["--trials", "-5"], ("--trials", "-5", "100")),
            (["--trials", "nan"], ("--trials", "nan")),
            (["--seed", "x"], ("--seed", "x")),
            (["--threads", "0"], ("--threads", "0")),
            (["--sed", "1"], "did you mean '--seed'"),
            (["report.html"], "report.html"),
        ):
            self.refuse("report", *args, says=says)

    def test_stopped(self):
        args = "report", "-o", "report.html", "--trials", "100000000"
        out, err = self.stop(*args, work=1)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("no page is written", err)
        self.assertRegex(out, r"(?m)^copy +\d+/\d+")
        self.assertNotIn("statements of the sheets", out)
        self.assertEqual(os.listdir(self.dir), [])
