# SPDX-License-Identifier: MIT
"""An HTML page, parsed by a program and opened in Chromium."""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest

import harness

# A frame for the page, so that it can be narrower than the narrowest window.
FRAME = """<!DOCTYPE html><meta name="color-scheme" content="light dark">
<body><script>
addEventListener('message', e => {
  const pre = document.createElement('pre');
  pre.id = 'probe'; pre.textContent = e.data; document.body.append(pre);
});
</script><iframe src="probed.html" style="width:%dpx;height:800px;border:0"></iframe>"""


class Page(html.parser.HTMLParser):
    """Collects tags, ids and references, and checks that every opened tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.errors = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "action", "data", "srcset"):
                self.links.append(value)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append((tag, self.getpos()))


class Browser(unittest.TestCase):
    """Opens a page with a probe: a script in it that posts an object to the frame."""

    def browse(self, text, probe, width, directory, *flags):
        """The posted object, with `width`, `scroll` (width of the page) and `fetched` (names)."""
        if not shutil.which("chromium"):
            self.skipTest("no chromium here")
        probed = text.replace("</body>", probe + "</body>")
        for name, content in ("probed", probed), ("frame", FRAME % width):
            path = os.path.join(directory, f"{name}.html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
            + ["--no-first-run", "--disable-background-networking", "--disable-sync"]
            + ["--disable-dev-shm-usage"]  # /dev/shm is small in a container
            + ["--disable-component-update", "--enable-logging=stderr"]
            + [f"--user-data-dir={directory}/profile", "--window-size=1500,900"]
            + [*flags, "--virtual-time-budget=20000", "--dump-dom", f"file://{path}"],
            capture_output=True,
            text=True,
            timeout=harness.HANG,
            check=True,
        )
        self.assertNotIn("CONSOLE", done.stderr)
        said = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(said, done.stderr)
        said = json.loads(html.unescape(said[1]))
        self.assertEqual((said["width"], said["fetched"]), (width, []))
        self.assertLessEqual(said["scroll"], width, "the page scrolls sideways")
        return said

    def assert_light(self, said):
        self.assertGreater(lightness(said["background"]), 200)
        self.assertLess(lightness(said["colour"]), 80)

    def assert_dark(self, said):
        self.assertLess(lightness(said["background"]), 60)
        self.assertGreater(lightness(said["colour"]), 200)


def lightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
