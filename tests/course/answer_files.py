# SPDX-License-Identifier: MIT
"""Answers for test_grade_files.py: whole files of twelve kinds, and small cases.

A file is a dict "1b-ii.q": text, or texts with | between them; a tuple adds the expected verdict and
words of the error.
"""

# Right, in a notation of its own: logistic, tanh, inverse, product of cosines, a query in eps, one in alpha.
UNUSUAL = {
    "1a-i.weight": ("exp(s_i - ln(Z))", "right"),
    "1a-ii.weight": ("(1 + tanh((D - ln(n-1))/2))/2", "right"),
    "1b-i.M": ("A (A^T A)^-1 A^T", "right"),
    "1b-ii.q": ("ln(n/eps) (k_a + k_b)", "limit"),
    "1b-ii.limit": ("Phi(0)", "limit"),
    "1c-i.q": ("alpha^(-1/4) (mu_a + mu_b)", "limit"),
    "1c-i.output": ("v_a/2 + v_b/2", "limit"),
    "1c-ii.scores": ("gamma alpha^(-1/4) | alpha^(-1/4) | 0", "right"),
    "1c-ii.closer": ("Phi(0)", "right"),
    "1c-ii.ends": ("v_b | v_a", "limit"),
    "1c-ii.spread": ("larger", "right"),
    "2a-i.scores": ("P S P^-1", "right"),
    "2b-i.dot": ("2 cos((omega_1+omega_2) (t-u)/2) cos((omega_1-omega_2) (t-u)/2)", "right"),
}

# A textbook's: queries that suppress the others, I - B B^T.
TEXTBOOK = {
    "1b-i.M": ("I - B B^T", "right"),
    "1b-ii.q": ("-C k_o", "limit"),
    "1b-ii.scores": ("0 | 0 | -C", "right"),
    "1b-ii.weight": ("1/(2 + (n-2) exp(-C))", "right"),
    "1b-ii.limit": ("1/2", "limit"),
    "1c-i.q": ("C (mu_a + mu_b)", "limit"),
    "1d-i.queries": ("C mu_a | C mu_b", "limit"),
}

# Twenty parts, each wrong in one place.
SUBTLE = {
    "1a-i.weight": ("s_i/Z", "wrong", "no exponential"),
    "1a-i.bounds": ("0 | 2", "partly", ""),
    "1a-ii.weight": ("1/(1+n*exp(-D))", "limit", "n - 1 for n"),
    "1b-i.M": ("A^T A", "wrong", "swapped"),
    "1b-ii.q": ("C (k_a + k_b) + k_o", "limit", ""),
    "1b-ii.scores": ("C | C | 0", "partly", ""),
    "1b-ii.weight": ("exp(C)/(2 exp(C) + n - 1)", "limit", ""),
    "1b-ii.scale": ("ln((n-2)*(1-eps)/eps)", "wrong", ""),
    "1c-i.scores": ("C | C | 1", "partly", ""),
    "1c-i.variance": ("2 alpha C^2", "wrong", "one key"),
    "1c-i.vanishes": ("alpha C", "wrong", "squared"),
    "1c-ii.scores": ("gamma C | gamma C | 0", "partly", ""),
    "1c-ii.weight": ("1/(1+exp((gamma-1) C))", "wrong", "sign"),
    "1c-ii.variances": ("C^2 (1/4 + 2 alpha) | 2 alpha C^2", "partly", ""),
    "1c-ii.ends": ("v_a | v_b", "wrong", ""),
    "1d-ii.lose": ("Phi((1 - ln(n-1)/C)/sigma)", "wrong", "one minus"),
    "2a-i.scores": ("P S", "wrong", "rows alone"),
    "2a-i.output": ("P^T Y", "wrong", "inverse"),
    "2b-i.dot": ("cos(omega_1 (t+u)) + cos(omega_2 (t+u))", "wrong", "sum in place"),
    "3g.bottleneck": ("n m", "wrong", "one pass"),
}

LATEX = {
    "1a-i.weight": (r"\frac{\exp(s_i)}{Z}", "right"),
    "1a-ii.condition": ("$gap$", "limit"),
    "1b-i.M": (r"$AA^\top$", "right"),
    "1b-ii.q": (r"$q = C(\mathbf{k}_a + \mathbf{k}_b)$, where $C \gg 0$", "limit"),
    "1b-ii.scores": (r"C | C | 0", "right"),
    "1b-ii.weight": (r"$$\frac{e^{C}}{2e^{C}+n-2}$$", "right"),
    "1b-ii.limit": (r"\tfrac12", "limit"),
    "1b-ii.scale": (r"\ln\left(\frac{(n-2)(1-\varepsilon)}{2\varepsilon}\right)", "right"),
    "1c-i.q": (r"\beta\,(\mu_{a} + \mu_{b})", "limit"),
    "1c-i.vanishes": (r"\alpha\beta^{2}", "right"),
    "1c-ii.weight": (r"\frac{1}{1+e^{(1-\gamma)C}+(n-2)e^{-\gamma C}}", "right"),
    "1c-ii.variances": (r"C^2(\frac12+2\alpha) | 2\alpha C^2", "right"),
    "1d-i.queries": (r"C\mu_a | C\mu_b", "limit"),
    "1d-ii.lose": (r"\Phi(\sqrt2\,(\ln(n-1)/C-1))", "right"),
    "2a-i.scores": (r"PSP^\top", "right"),
}

GREEK = {
    "1b-ii.q": ("β k_a + β k_b", "limit"),
    "1b-ii.weight": ("e^β/(e^β + e^β + n − 2)", "right"),
    "1c-i.variance": ("2·α·β^2 + 2·α·β^2", "right"),
    "1c-ii.weight": ("e^(γ β)/(e^(γ β) + e^β + n − 2)", "right"),
    "1c-ii.variances": ("β^2/2 + 2 α β^2 | α β^2 + α β^2", "right"),
    "2a-i.output": ("Π Y", "right"),
}

# Saturated weights and formulas of the same rounding.
ADVERSARIAL = {
    "1b-i.M": ("v_a v_a^T/(v_a^T v_a)", "wrong", "must not depend"),
    "1b-ii.q": ("1e9 (k_a + k_b)", "limit"),
    "1b-ii.weight": ("1/2", "limit"),
    "1c-i.q": ("1000 (mu_a + mu_b)", "limit"),
    "1c-i.vanishes": ("alpha", "wrong", "wrong order"),
    "1c-ii.weight": ("sg(1e300 (gamma - 1))", "limit"),
    "1d-i.queries": ("2 C (mu_a + mu_b) | C (mu_a + mu_b)", "wrong", ""),
    "1d-ii.limit": ("0.018115", "wrong", "rounded"),
    "3g.bottleneck": ("inf", "wrong", ""),
}

CAPITAL = {"1c-ii.spread": ("Larger", "right"), "1e.better": ("TWO", "limit"), "1b-i.M": ("A A^T", "right")}
NUMBER = {"1a-i.sum": (1, "right"), "1b-ii.limit": (0.5, "limit"), "1b-i.M": ("A A^T", "right")}
PARENTHESIS = {
    "1b-ii.weight": ("exp(C/(2 exp(C)+n-2)", "unread", ""),
    "1b-ii.q": ("C (k_a + k_b)", "limit"),
    "1b-i.M": ("A A^T", "right"),
}
PROSE = {
    "1a-ii.condition": ("when one key is much more similar to q than the others", "unread", ""),
    "1b-i.M": ("the projection onto the span of A", "unread", ""),
    "1b-ii.q": ("a large multiple of both keys", "unread", ""),
    "1d-ii.compared": ("it is smaller", "unread", ""),
}
UNSCALED = {
    "1b-ii.q": ("k_a + k_b", "wrong", "unscaled"),
    "1b-ii.weight": ("e/(2 e + n - 2)", "right"),
    "1b-ii.limit": ("1/2", "wrong", "not for your q"),
    "1d-i.queries": ("mu_a | mu_b", "wrong", "unscaled"),
    "1d-i.outputs": ("v_a | v_b", "wrong", "not for your queries"),
}

# Each file, and the verdicts of its parts.
FILES = {
    "s01-unusual": UNUSUAL,
    "s02-textbook": TEXTBOOK,
    "s03-subtle": SUBTLE,
    "s04-latex": LATEX,
    "s05-greek": GREEK,
    "s06-empty": {},
    "s07-adversarial": ADVERSARIAL,
    "s08-capital": CAPITAL,
    "s09-number": NUMBER,
    "s10-parenthesis": PARENTHESIS,
    "s11-prose": PROSE,
    "s12-unscaled": UNSCALED,
}

# Queries of a case, then its part, text, verdict, and words of the error or the evidence.
KEYS, MEANS, HEADS = "1b-ii.q", "1c-i.q", "1d-i.queries"
CASES = (
    # A query knows means, not draws.
    ({}, MEANS, "C (mu_a/gamma + mu_b)", "wrong", "gamma is drawn"),
    ({}, MEANS, "C (k_a + k_b)", "wrong", "k_a is drawn"),
    ({}, HEADS, "C mu_a/gamma | C mu_b", "wrong", "gamma is drawn"),
    ({MEANS: "C (mu_a/gamma + mu_b)"}, "1c-ii.scores", "C | C | 0", "partly", ""),
    ({MEANS: "C (mu_a/gamma + mu_b)"}, "1c-ii.weight", "exp(C)/(2 exp(C) + n - 2)", "wrong", ""),
    ({}, MEANS, "alpha^(-1/4) (mu_a + mu_b)", "limit", "off by at most"),
    # Queries without C.
    ({}, KEYS, "10 (k_a + k_b)", "limit", "for n = 2 to 100, where 0.01 is allowed"),
    ({}, KEYS, "20 (k_a + k_b)", "limit", "for n = 2 to 100"),
    ({}, KEYS, "30 (k_a + k_b)", "limit", "for n = 2 to 100"),
    ({}, KEYS, "1e9 (k_a + k_b)", "limit", "no more than rounding"),
    ({}, KEYS, "6 (k_a + k_b)", "wrong", "off by at most 0.077 for n = 2 to 100"),
    ({}, KEYS, "k_a + k_b", "wrong", "unscaled"),
    ({}, KEYS, "(ln n + 10)(k_a + k_b)", "limit", ""),
    ({}, KEYS, "(ln(n) + 1)(k_a + k_b)", "wrong", ""),
    ({}, KEYS, "ln(n/eps) (k_a + k_b)", "limit", "as eps falls"),
    ({}, KEYS, "20 k_a + 20.001 k_b", "limit", ""),
    ({}, KEYS, "20 k_a + 21 k_b", "wrong", ""),
    ({}, MEANS, "20 (mu_a + mu_b)", "limit", "alpha -> 0"),
    ({}, HEADS, "20 mu_a | 20 mu_b", "limit", "for n = 2 to 100"),
    # Saturation is no proof.
    ({KEYS: "1e9 (k_a + k_b)"}, "1b-ii.weight", "1/2", "limit", "the exact value is asked"),
    ({KEYS: "30 (k_a + k_b)"}, "1b-ii.weight", "e^30/(2 e^30 + n - 2)", "right", ""),
    ({KEYS: "30 (k_a + k_b)"}, "1b-ii.weight", "1/2", "limit", "the exact value is asked"),
    ({KEYS: "(ln(n) + 40) (k_a + k_b)"}, "1b-ii.weight", "n e^40/(2 n e^40 + n - 2)", "right", ""),
    ({KEYS: "1e9 (k_a + k_b)"}, "1b-ii.scores", "1e9 | 1e9 | 0", "right", ""),
    ({MEANS: "1000 (mu_a + mu_b)"}, "1c-ii.weight", "sg(1e300 (gamma - 1))", "limit", ""),
    ({MEANS: "1000 (mu_a + mu_b)"}, "1c-ii.weight", "sg(1000 (gamma - 1))", "limit", ""),
    ({MEANS: "1000 (mu_a + mu_b)"}, "1c-i.vanishes", "alpha", "wrong", "wrong order"),
    ({MEANS: "1000 (mu_a + mu_b)"}, "1c-i.vanishes", "1000^2*alpha", "right", ""),
    ({MEANS: "1000 (mu_a + mu_b)"}, "1c-i.vanishes", "alpha C^2", "right", ""),
    # Two queries that are one.
    ({}, HEADS, "2 C (mu_a + mu_b) | C (mu_a + mu_b)", "wrong", "differ by a factor"),
    ({}, HEADS, "C mu_a | C mu_a", "wrong", "differ by a factor"),
    ({}, HEADS, "C (2 mu_a + mu_b) | C (mu_a + 2 mu_b)", "limit", ""),
    ({}, HEADS, "C mu_a + mu_b | C mu_b + mu_a", "limit", ""),
    ({}, HEADS, "C_1 mu_a | C_2 mu_b", "limit", ""),
    # The event that the exercise grants.
    ({}, "1d-ii.limit", "0", "limit", "where gamma > 0"),
    ({}, "1d-ii.limit", "1/4", "wrong", ""),
    ({}, "1d-ii.output", "(v_a + v_b)/2", "limit", "where gamma > 0"),
    ({}, "1d-ii.limit", "0.0181", "wrong", "the exact value is asked"),
    # What is asked at the student's own query.
    ({HEADS: "C (2 mu_a + mu_b) | C (mu_a + 2 mu_b)"}, "1d-ii.correlation", "zero", "wrong", "not for your"),
    ({HEADS: "C (2 mu_a + mu_b) | C (mu_a + 2 mu_b)"}, "1d-ii.correlation", "positive", "right", ""),
    ({HEADS: "C mu_a | C mu_b"}, "1d-ii.heads", "constant | constant", "partly", "q_1 has a part along mu_a"),
    ({HEADS: "C mu_b | C mu_a"}, "1d-ii.heads", "varies | constant", "wrong", "q_1 has no part"),
    ({HEADS: "mu_a | mu_b"}, "1d-i.outputs", "v_a | v_b", "wrong", "not for your queries"),
    ({KEYS: "C (k_a + k_b) + k_o"}, "1b-ii.scores", "C | C | 0", "partly", "not for your q"),
    ({KEYS: "C (k_a + k_b) + k_o"}, "1b-ii.scores", "C | C | 1", "right", ""),
    # Lists, words and numbers.
    ({}, "1c-ii.scores", "gamma C | C", "unread", "2 texts where 3 are asked"),
    ({}, "1c-ii.scores", "gamma C | 2 C | 0", "partly", "text 1 is right"),
    ({}, "1d-ii.heads", "Varies | CONSTANT", "right", ""),
    ({}, "1a-iv.needs", "aligned and long", "limit", ""),
    ({}, "1a-iv.needs", "aligned", "wrong", "|q| = 1"),
    ({}, "1a-ii.condition", "the gap", "limit", ""),
    ({}, "1c-ii.closer", "50%", "right", ""),
    ({}, "1c-ii.closer", "0.51", "wrong", ""),
    ({}, "1c-ii.closer", "0.5000000001", "wrong", "rounded"),
    # Texts as they are typed.
    ({}, "1b-i.M", "M = AA^T", "right", ""),
    ({}, "1b-ii.q", "Ck_a + Ck_b", "limit", ""),
    ({}, "1c-i.output", "1/2 (v_a + v_b)", "limit", ""),
    ({}, "1b-ii.scale", "ln (n-2)(1-eps)/(2 eps)", "wrong", ""),
    ({}, "3g.bottleneck", "2nm", "right", ""),
    ({}, "3g.bottleneck", "2mn", "right", ""),
    ({}, "1b-ii.weight", r"\frac{e^C}{2e^C + n - 2", "unread", "column"),
    ({}, "1b-ii.weight", "alpha_a = e^C/(2e^C + n - 2).", "right", ""),
    ({}, "1b-i.M", r"AA^\top \quad (\because A^\top B = 0)", "right", ""),
    ({}, "1b-ii.q", r"q = \lambda (k_a + k_b) \quad (\lambda \gg 0)", "limit", ""),
    ({}, "1b-ii.q", "C*(k_a + k_b) (C→∞)", "limit", ""),
    ({}, "1b-ii.weight", r"\frac{e^{C}}{2e^{C}+(n-2)} \approx \frac12", "right", ""),
    ({}, "1b-ii.weight", "np.exp(C)/(2*np.exp(C) + n - 2)", "right", ""),
    ({}, "1b-ii.weight", "e**C/(2*e**C + n - 2)", "right", ""),
    ({}, "1b-ii.weight", "e^C/(2e^C + n - 2) = 1/2", "unread", "column"),
    ({}, "1c-i.vanishes", r"\alpha C^2 \to 0", "right", ""),
    ({}, "2a-i.output", "PZ", "right", ""),
    ({}, "1b-ii.weight", "e^C/(2 e^C + x)", "unread", "no letter 'x'"),
)
