#!/bin/sh
# SPDX-License-Identifier: MIT
# test_theory_doc.sh: docs/THEORY.md has every result, names functions and tests that
# exist, is all that the sources refer to, and holds to the formulas that GitHub renders.
# Each checker prints what is wrong under a directory; it is run on the repository and
# on a small tree with that fault planted.
set -u
# shellcheck source=tests/house/harness.sh
. "$(dirname "$0")/harness.sh"

# One heading for each of T1 .. T26, in this order.
headings() {
    seq 26 | sed 's/^/T/' >"$tmp/wanted"
    sed -nE 's/^### (T[0-9]+) .*/\1/p' "$1/docs/THEORY.md" | diff "$tmp/wanted" -
}

# Every entry has the five parts.
parts() {
    awk '
        function end() {
            for (i = 1; i <= 4; i++)
                if (name && !(word[i] in seen)) print name ": no " word[i]
            if (name && !blocks && !tables) print name ": no formula"
        }
        BEGIN { split("Conditions Derivation Functions Tests", word) }
        /^##+ / { end(); delete seen; blocks = tables = 0; name = $1 == "###" ? $2 : "" }
        /^\*\*[A-Z][a-z]+\.\*\* / { gsub(/[*.]/, "", $1); seen[$1] }
        /^```math$/ { blocks++ }
        /^\|/ { tables++ }
        END { end() }' "$1/docs/THEORY.md"
}

# paragraph WORD DIR: "T1 `name`" for each name in backquotes in the paragraphs "**WORD.** ".
paragraph() {
    awk -v start="**$1.** " '
        /^### / { name = $2; n[name] = 0 }
        index($0, start) == 1 { inside = 1 }
        !NF { inside = 0 }
        inside { k = split($0, part, "`"); for (i = 2; i <= k; i += 2) print name, part[i] }' \
        "$2/docs/THEORY.md"
}

# Functions in the document that no header declares.
functions() {
    find "$1/include" "$1/src" -name '*.h' -exec cat {} + |
        grep -oE '\battendi?_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$tmp/declared"
    paragraph Functions "$1" | while read -r result function; do
        grep -qx "$function" "$tmp/declared" || echo "$result: no header declares $function"
    done
}

# Tests in the document that do not exist: a path names the file of the tests after it.
tests() {
    paragraph Tests "$1" | while read -r result word; do
        case $word in
        */*)
            file=$word
            [ -f "$1/$file" ] || echo "$result: there is no $file"
            ;;
        *)
            grep -qsE "^TEST(_ON_SETS)?\(${word}[,)]|^    def $word\(self" "$1/$file" ||
                echo "$result: no test $word in $file"
            ;;
        esac
    done
}

# Entries without a function or without a test.
unheld() {
    for word in Functions Tests; do
        paragraph $word "$1" | cut -d' ' -f1 | sort -u >"$tmp/named"
        sed -nE 's/^### (T[0-9]+) .*/\1/p' "$1/docs/THEORY.md" | sort -u |
            comm -23 - "$tmp/named" | sed "s/\$/: empty $word/"
    done
}

# References to results that do not exist.
mentions() {
    sed -nE 's/^### (T[0-9]+) .*/\1/p' "$1/docs/THEORY.md" | sort -u >"$tmp/results"
    (cd "$1" && grep -rInowE 'T[0-9]+' src include docs README.md) |
        while IFS= read -r where; do
            grep -qx "${where##*:}" "$tmp/results" || echo "$where"
        done
}

# Public functions of the theory that no entry names, except special functions.
forgotten() {
    paragraph Functions "$1" | cut -d' ' -f2 | sort -u >"$tmp/named"
    grep -oE '\battend_theory_[a-z0-9_]+\(' "$1/include/attend/theory.h" | tr -d '(' | sort -u |
        grep -vE '_(logistic|logit|normal_cdf|normal_quantile|scene_exercise)$' |
        comm -23 - "$tmp/named"
}

# Characters of an inline formula that GitHub's Markdown changes before the formula is
# rendered: escaped punctuation, underscores that open emphasis, stars, angle brackets, line
# ends, and in a table the bar.  Also macros that GitHub does not allow.
formulas() {
    awk '
        FNR == 1 { block = 0 }
        /\\(operatorname|def|newcommand|href|label|ref|tag|text[a-z]*color|unicode|require)[^a-z]/ {
            print FILENAME ":" FNR ": a macro that is not allowed"
        }
        /^```/ { block = !block; next }
        block { next }
        {
            line = $0
            gsub(/`[^`]*`/, "", line)
            k = split(line, part, "$")
            if (k && k % 2 == 0) print FILENAME ":" FNR ": a formula that does not end on its line"
            for (i = 2; i < k; i += 2) {
                f = part[i]
                if (f ~ /^ | $|^$/) print FILENAME ":" FNR ": blanks at the ends of $" f "$"
                if (f ~ /\\[^A-Za-z]/) print FILENAME ":" FNR ": an escape in $" f "$"
                if (f ~ /[^A-Za-z0-9]_|[*<>~]/) print FILENAME ":" FNR ": markup in $" f "$"
                if (line ~ /^\|/ && f ~ /\|/) print FILENAME ":" FNR ": a bar in $" f "$"
                if (part[i + 1] ~ /^[A-Za-z0-9]/) print FILENAME ":" FNR ": text right after $" f "$"
            }
        }' "$1/docs/THEORY.md"
}

# Links within the page without a target.
anchors() {
    sed -nE 's/^##+ (.*)/\1/p' "$1/docs/THEORY.md" | tr '[:upper:] ' '[:lower:]-' |
        tr -cd 'a-z0-9\n-' | sort -u >"$tmp/anchors"
    grep -oE '\]\(#[^)]*\)' "$1/docs/THEORY.md" | tr -d '](#)' | sort -u | comm -23 - "$tmp/anchors"
}

bad=$tmp/bad
mkdir -p "$bad/docs" "$bad/src" "$bad/include/attend" "$bad/tests"
cat >"$bad/docs/THEORY.md" <<'END'
[T9](#t9-gone)
### T1 Good
```math
x \operatorname{y}
```
**Conditions.** None: $a_1 \, b$, $\bar{v}_i$, $x < y$, $open
| $|x|$ | $x$th |
**Derivation.** By hand.

**Functions.** `attend_theory_good`, `attend_theory_absent`

**Tests.** `tests/test_good.c`: `there`, `away`; `tests/gone.c`: `lost`
### T3 Bare
END
printf 'double attend_theory_good(void);\ndouble attend_theory_more(void);\n' >"$bad/include/attend/theory.h"
printf 'TEST(there)\n' >"$bad/tests/test_good.c"
printf '/* See T1 and T77. */\n' >"$bad/src/a.c"
touch "$bad/README.md"

silent "every result has its heading" headings "$root"
caught "a result without heading" '^< T2$' headings "$bad"
silent "every result has its parts" parts "$root"
caught "an entry without tests" '^T3: no Tests' parts "$bad"
caught "an entry without formula" '^T3: no formula' parts "$bad"
silent "every function is declared in a header" functions "$root"
caught "a function that is not" '^T1: no header declares attend_theory_absent' functions "$bad"
silent "every test is in the tree" tests "$root"
caught "a test that is not" '^T1: no test away in tests/test_good.c' tests "$bad"
caught "a file of tests that is not" '^T1: there is no tests/gone.c' tests "$bad"
silent "every result names a function and a test" unheld "$root"
caught "a result that names none" '^T3: empty Functions' unheld "$bad"
silent "every result that is referred to exists" mentions "$root"
caught "a reference to no result" '^src/a.c:1:T77' mentions "$bad"
silent "every function of the theory has its result" forgotten "$root"
caught "a function without result" '^attend_theory_more$' forgotten "$bad"
silent "formulas are such as GitHub renders" formulas "$root"
for fault in 'a macro' 'an escape in' 'markup in .*bar' 'markup in .x <' 'a bar in' 'text right after' \
    'a formula that does not end'; do
    caught "$fault" "$fault" formulas "$bad"
done
silent "links within the page lead somewhere" anchors "$root"
caught "a link that leads nowhere" '^t9-gone$' anchors "$bad"
finish
