# SPDX-License-Identifier: MIT
"""Ten answered forms for test_grade.py: five that are right, five that are wrong.

An answer of several texts has | between them.
"""

import json
import os

# Each part in five notations: plain, in Greek letters, in LaTeX braces, by other derivations, and with
# another scale; or in one notation that all forms share.
NOTATIONS = "exact", "greek", "braces", "algebra", "scaled"
RIGHT = {
    "1a-i.weight": ("exp(s_i)/Z", "e^s_i/Z", "exp{s_i}/{Z}", "exp(s_i - ln(Z))", "exp(s_i)/Z"),
    "1a-i.sum": "1",
    "1a-i.bounds": "0 | 1",
    "1a-ii.condition": "gap",
    "1a-ii.weight": (
        "1/(1+(n-1)*exp(-D))",
        "e^D/(e^D + n − 1)",
        "{1}/{1 + (n-1) e^{-D}}",
        "sg(D - ln(n-1))",
        "1/(1+(n-1)*exp(-D))",
    ),
    "1a-iii.output": ("p_j v_j + (1 - p_j) v_o", "v_j", "v_j", "v_j", "v_j"),
    "1a-iv.needs": "aligned-and-long",
    "1b-i.M": ("A A^T", "A·Aᵀ", "A A'", "A (A^T A)^-1 A^T", "I - B B^T"),
    "1b-i.coordinates": ("c", "c", "c", "A^T v_a", "c"),
    "1b-ii.q": ("C (k_a + k_b)", "β·(k_a + k_b)", "C [k_a + k_b]", "C^2 k_a + C^2 k_b", "3 C (k_a + k_b)"),
    "1b-ii.scores": ("C | C | 0", "β | β | 0", "C | C | 0", "C^2 | C^2 | 0", "3 C | 3 C | 0"),
    "1b-ii.weight": (
        "sg(C - ln(exp(C) + n - 2))",
        "e^β/(2·e^β + n − 2)",
        "e^{C}/{2 e^{C} + (n - 2) e^{0}}",
        "1/(2 + (n-2)*exp(-C^2))",
        "exp(3 C)/(2 exp(3 C) + n - 2)",
    ),
    "1b-ii.limit": ("exp(C)/(2 exp(C) + n - 2)", "0.5", "1/2", "1/2", "1/2"),
    "1b-ii.scale": (
        "ln((n-2)*(1-eps)/(2*eps))",
        "ln((n−2)·(1−eps)/eps) − ln(2)",
        "ln{n-2} + ln{1-eps} - ln{2 eps}",
        "sqrt(ln((n-2)*(1/eps - 1)/2))",
        "ln((n-2)*(1-eps)/(2*eps))/3",
    ),
    "1c-i.q": (
        "C (mu_a + mu_b)",
        "β·(μ_a + μ_b)",
        "C {mu_a + mu_b}",
        "sqrt(C^2)*mu_a + C*mu_b",
        "2 beta (m_a + m_b)",
    ),
    "1c-i.scores": ("C | C | 0", "β | β | 0", "C | C | 0", "C | C | 0", "2 beta | 2 beta | 0"),
    "1c-i.output": (
        "(v_a + v_b)/2",
        "0.5·v_a + 0.5·v_b",
        "(v_a + v_b)/2",
        "v_a - (v_a - v_b)/2",
        "(v_a + v_b)/2",
    ),
    "1c-i.variance": (
        "4 alpha C^2",
        "(2·β)^2·α",
        "C^2 {2 alpha + 2 alpha}",
        "2*alpha*norm(C*(mu_a + mu_b))^2",
        "16 alpha beta^2",
    ),
    "1c-i.vanishes": ("alpha C^2", "β·sqrt(α)", "{C^2}{alpha}", "4*alpha*C^2/(1 + alpha*C^2)", "alpha C^2"),
    "1c-ii.scores": (
        "gamma C | C | 0",
        "γ·β | β | 0·γ",
        "gamma C | C | 0",
        "C*gamma*mu_a^T*mu_a | C*norm(mu_b) | C*mu_a^T*mu_b",
        "2 gamma C | 2 C | 0",
    ),
    "1c-ii.weight": (
        "sg(gamma C - ln(exp(C) + n - 2))",
        "e^(γ·β)/(e^(γ·β) + e^β + n − 2)",
        "e^{gamma C}/{e^{gamma C} + e^{C} + n - 2}",
        "1/(1 + exp(C - gamma*C) + (n-2)*exp(-gamma*C))",
        "exp(2 gamma C)/(exp(2 gamma C) + exp(2 C) + n - 2)",
    ),
    "1c-ii.variances": (
        "C^2 (1/2 + 2 alpha) | 2 alpha C^2",
        "β^2·(2·α + 0.5) | 2·α·β^2",
        "{C^2}{1/2} + 2 alpha C^2 | {2}{alpha}{C^2}",
        "C^2*(mu_a+mu_b)^T*(mu_a+mu_b)*alpha + C^2*sigma^2 | C^2*alpha*norm(mu_a - mu_b)^2",
        "(2 C)^2 (1/2 + 2 alpha) | 8 alpha C^2",
    ),
    "1c-ii.closer": ("Phi(0)", "1/2", "1/2", "1/2", "1/2"),
    "1c-ii.ends": "v_b | v_a",
    "1c-ii.spread": "larger",
    "1c-ii.limit": ("sigma^2/2", "1/4", "1/4", "Phi(0)*(1-Phi(0))", "1/4"),
    "1d-i.queries": (
        "C mu_a | C mu_b",
        "β·μ_a | β·μ_b",
        "{C_1}{mu_a} | {C_2}{mu_b}",
        "C*mu_b | C*mu_a",
        "10 C mu_a | C mu_b/2",
    ),
    "1d-i.outputs": ("v_a | v_b", "v_a | v_b", "{v_a} | {v_b}", "v_b | v_a", "v_a | v_b"),
    "1d-ii.heads": (
        "varies | constant",
        "varies | constant",
        "varies | constant",
        "constant | varies",
        "varies | constant",
    ),
    "1d-ii.correlation": "zero",
    "1d-ii.compared": "smaller",
    "1d-ii.output": "(v_a + v_b)/2",
    "1d-ii.lose": (
        "Phi(-(C - ln(n-1))/(C sigma))",
        "1 − Φ((1 − ln(n−1)/β)/σ)",
        "Phi{[ln{n-1} - C]/[C sigma]}",
        "Phi((ln(n-1)/C - 1)/sigma)",
        "Phi((ln(n-1)/C - 1)/sigma)",
    ),
    "1d-ii.limit": (
        "Phi(sqrt(2))*Phi(-sqrt(2))/4",
        "Φ(1/σ)·(1 − Φ(1/σ))/4",
        "Phi(1/sigma)*Phi(-1/sigma)/4",
        "(Phi(1/sigma)/2)*(Phi(-1/sigma)/2)",
        "Phi(1/sigma)*Phi(-1/sigma)/4",
    ),
    "1e.better": "two",
    "2a-i.moved": ("P X", "Π X", "P X", "P X", "P X"),
    "2a-i.scores": ("P S P^T", "Π·S·Πᵀ", "P S P'", "(P S^T P^T)^T", "P S P^T"),
    "2a-i.weights": ("P A P^T", "Π A Πᵀ", "P A P'", "P (P A^T)^T", "P A P^T"),
    "2a-i.output": ("P Y", "Π Y", "P Y", "P Y", "P Y"),
    "2a-ii.order": "ignored",
    "2b-i.helps": "yes",
    "2b-i.dot": (
        "cos(omega_1 (t-u)) + cos(omega_2 (t-u))",
        "cos(ω_1·(u−t)) + cos(ω_2·(u−t))",
        "cos{omega_1 t - omega_1 u} + cos{omega_2 (t - u)}",
        "2*cos((omega_1+omega_2)*(t-u)/2)*cos((omega_1-omega_2)*(t-u)/2)",
        "cos(omega_1 (t-u)) + cos(omega_2 (t-u))",
    ),
    "2b-ii.same": "never",
    "3g.rotary": "difference",
    "3g.synthesizer": ("1/n", "1/n", "1/n", "exp(-ln(n))", "1/n"),
    "3g.bottleneck": ("m*n*2", "2 n m", "n m + m n", "2 n m", "2 n m"),
}

# For each wrong form: the answers, their verdicts, and words of the name of the error.
WRONG = {
    "wrong-transposed": {
        "1b-i.M": ("A^T", "wrong", "A^T in place of A A^T"),
        "1b-i.coordinates": ("v_a", "wrong", "coordinates"),
        "2a-i.moved": ("X P", "slip", "on the left"),
        "2a-i.scores": ("S", "wrong", "move with the tokens"),
        "2a-i.weights": ("P A", "wrong", "rows alone"),
        "2a-i.output": ("Y P^T", "wrong", "wrong order"),
    },
    "wrong-unscaled": {
        "1a-ii.condition": ("angle", "wrong", "unscaled"),
        "1a-iv.needs": ("aligned", "wrong", "unscaled"),
        "1b-ii.q": ("k_a + k_b", "wrong", "unscaled"),
        "1c-i.q": ("mu_a + mu_b", "wrong", "unscaled"),
        "1d-i.queries": ("mu_a | mu_b", "wrong", "unscaled"),
        "1d-i.outputs": ("v_a | v_b", "wrong", "not for your"),
        "1d-ii.output": ("(v_a + v_b)/2", "wrong", "not for your"),
    },
    "wrong-plus-minus": {
        "1b-ii.q": ("C (k_a - k_b)", "wrong", "mu_a +- mu_b"),
        "1c-i.q": ("C (mu_a + mu_b)", "limit", ""),
        "1d-i.queries": ("C (mu_a + mu_b) | C (mu_a - mu_b)", "wrong", "mu_a +- mu_b"),
        "1d-i.outputs": ("(v_a + v_b)/2 | (v_a + v_b)/2", "partly", ""),
        "1d-ii.heads": ("varies | constant", "partly", "feels gamma"),
        "1d-ii.correlation": ("negative", "wrong", "do not cancel"),
        "1e.better": ("one", "wrong", "coin"),
    },
    "wrong-limits": {
        "1a-ii.weight": ("1/(1 + n exp(-D))", "limit", "n - 1 for n"),
        "1b-ii.weight": ("exp(C)/(2 exp(C) + n)", "limit", "n - 2 for n"),
        "1b-ii.scale": ("ln((n-2)*(1-eps)/eps)", "wrong", "factor 2"),
        "1c-i.variance": ("2 alpha C^2", "wrong", "one key"),
        "1c-i.vanishes": ("alpha", "wrong", "limits in the wrong order"),
        "1c-ii.weight": ("exp(gamma C)/(exp(gamma C) + n - 1)", "wrong", "counted among the others"),
        "1d-ii.lose": ("Phi((ln(n)/C - 1)/sigma)", "limit", "n - 1 for n"),
        "1d-ii.limit": ("Phi(1/sigma)*Phi(-1/sigma)", "wrong", "factor 1/4"),
        "3g.bottleneck": ("n m", "wrong", "one pass"),
    },
    "wrong-squares": {
        "1a-i.weight": ("s_i/Z", "wrong", "exponential"),
        "1c-i.variance": ("4 alpha^2 C^2", "wrong", "sigma and sigma^2"),
        "1c-ii.scores": ("gamma C | gamma_b C | 0", "partly", "only k_a"),
        "1c-ii.weight": ("1/(1 + exp((gamma - 1) C))", "wrong", "sign"),
        "1c-ii.variances": ("C^2/4 | 0", "partly", "sigma and sigma^2"),
        "1c-ii.limit": ("1/2", "wrong", "factor 2"),
        "1d-ii.lose": ("Phi((ln(n-1)/C - 1)/sigma^2)", "wrong", "sigma^2 in place of sigma"),
        "2b-i.dot": ("-cos(omega_1 (t-u)) - cos(omega_2 (t-u))", "wrong", "sign"),
        "2b-ii.same": ("after-the-longest-period", "wrong", "irrational"),
    },
}


def write_forms(folder):
    """right-NOTATION.json, and NAME.json for each wrong form."""
    forms = {name: {p: a for p, (a, *_) in of.items()} for name, of in WRONG.items()}
    for x, notation in enumerate(NOTATIONS):
        forms[f"right-{notation}"] = {
            part: answer if isinstance(answer, str) else answer[x] for part, answer in RIGHT.items()
        }
    for name, answers in forms.items():
        form = {"student": name}
        for part, answer in answers.items():
            question, field = part.split(".")
            texts = answer.split(" | ")
            form.setdefault(question, {})[field] = texts if len(texts) > 1 else answer
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(form, file, ensure_ascii=False)
