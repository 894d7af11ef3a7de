# SPDX-License-Identifier: MIT
"""Print the Markdown table of a comparison: table.py [FILE], else the latest."""

import os
import sys

import results

LATEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results", "latest.json")

if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: table.py [FILE]")
    try:
        document = results.read_json(sys.argv[1] if len(sys.argv) == 2 else LATEST)
    except (OSError, ValueError) as failure:
        print(f"table: {failure}; make bench writes one", file=sys.stderr)
        sys.exit(2)
    sys.stdout.write(results.markdown(document))
