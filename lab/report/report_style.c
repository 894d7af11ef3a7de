/* SPDX-License-Identifier: MIT */
/*
 * How the report looks: on a screen, light or dark, on a phone, on paper.  Colours, type,
 * tables and figures are those of the page in a browser as well.
 */
#include "lab/report/report_parts.h"

#include <stddef.h>

const char *const lab_shared_style[] = {
    ":root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#1f2328;"
    "--soft:#57606a;--rule:#dde2e8;--link:#1d63b8;"
    "--holds:#0f766e;--limit:#8a5a00;--fails:#b42318;--slip:#7e3fa8}\n",
    "@media screen and (prefers-color-scheme:dark){:root{--bg:#0f1216;--card:#171b21;"
    "--text:#e6e8eb;--soft:#a3adb8;--rule:#2c323a;--link:#6aaef5;"
    "--holds:#3fc6b2;--limit:#e2b440;--fails:#ff8a7a;--slip:#c79bf0}}\n",
    "*{box-sizing:border-box}\n",
    "html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}"
    "\n",
    "body{margin:0;background:var(--bg);color:var(--text);font:1rem/1.6 system-ui,"
    "-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n",
    "a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.18em}\n",
    "h1,h2,h3{line-height:1.25;text-wrap:balance}\n",
    "h1{font-size:2rem;margin:0 0 .6rem;letter-spacing:-.015em}\n",
    "h2{font-size:1.4rem;margin:0 0 .5rem;letter-spacing:-.01em}\n",
    "h3{font-size:1.05rem;margin:1.8rem 0 .5rem}\n",
    "p{margin:.5rem 0;max-width:44rem}\n",
    "code{font:.9em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
    "overflow-wrap:anywhere}\n",
    ".soft{color:var(--soft)}\n",
    ".small{font-size:.875rem}\n",
    ".asks{font-size:1.05rem;border-left:3px solid var(--link);padding-left:.9rem;"
    "margin:.75rem 0}\n",
    ".answer{margin:.75rem 0}\n",
    ".formula{overflow-x:auto;overflow-y:hidden;padding:.35rem 0;margin:.35rem 0;"
    "max-width:44rem}\n",
    "math{font-size:1.06em;font-family:'STIX Two "
    "Math','Cambria Math','Latin Modern Math','DejaVu Math TeX Gyre',math}\n",
    ".things{margin:1rem 0;padding:0 0 0 1.4rem;max-width:44rem}.things li{padding:.3rem "
    "0 .3rem .3rem}"
    ".things li::marker{font-weight:600;color:var(--link)}.things "
    "span{color:var(--soft)}\n",
    ".glossary{display:block;columns:22rem;column-gap:2.5rem}"
    ".glossary div{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:.75rem;"
    "padding:.25rem 0;break-inside:avoid}.glossary dt{color:var(--text);"
    "font-weight:600}.glossary dd{color:var(--soft)}\n",
    ".meaning{display:block;color:var(--soft);font-size:.85rem;max-width:36rem;"
    "min-width:14rem}\n",
    "caption{text-align:left;padding:.5rem .8rem .1rem;color:var(--soft);"
    "font-size:.85rem}\n",
    ".voices a{white-space:nowrap;margin-right:.35rem;color:inherit}.voices "
    "a.holds{color:var(--holds)}.voices a.limit{color:var(--limit)}.voices "
    "a.fails{color:var(--fails)}.voices a.slip{color:var(--slip)}\n",
    ".quote{font-family:ui-serif,Georgia,Cambria,serif;font-style:italic;"
    "overflow-wrap:anywhere}.legend{list-style:none;padding:0;margin:.75rem 0}"
    ".legend li{padding:.15rem 0}\n",
    "tr:target{background:color-mix(in srgb,var(--link) 12%,transparent)}\n",
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));"
    "gap:.75rem;margin:1.5rem 0 .75rem;padding:0;list-style:none}\n",
    ".tiles li{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;"
    "padding:.8rem 1rem}\n",
    ".tiles b{display:block;font-size:1.6rem;line-height:1.2;font-weight:600;"
    "font-variant-numeric:tabular-nums}\n",
    ".tiles span{color:var(--soft);font-size:.875rem}\n",
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,"
    "25rem),1fr));gap:1rem;margin:1.25rem 0}\n",
    ".figures>.box{margin:0;align-self:start;grid-column:1/-1}"
    ".figures.single>.box{grid-column:auto}.figures.single{align-items:start}\n",
    "figure{margin:0;background:var(--card);border:1px solid var(--rule);"
    "border-radius:.5rem;padding:.5rem .5rem .75rem;break-inside:avoid}\n",
    "figure svg{display:block;width:100%;max-width:38rem;height:auto;margin:0 auto}\n",
    "figcaption{color:var(--soft);font-size:.875rem;line-height:1.45;"
    "padding:.25rem .75rem 0}\n",
    ".box{overflow-x:auto;background:var(--card);border:1px solid var(--rule);"
    "border-radius:.5rem;margin:1rem 0}\n",
    ".split{display:flex;height:.6rem;gap:2px;margin:.6rem 0 .5rem}\n",
    ".split i{display:block;border-radius:2px;background:currentColor}\n",
    ".tally{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;"
    "padding:.8rem 1rem;margin:.75rem 0 1.5rem}\n",
    ".tally ul{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;margin:0;padding:0;"
    "list-style:none;font-size:.95rem;font-variant-numeric:tabular-nums}\n",
    ".tie{white-space:nowrap}\n",
    "code span{white-space:nowrap}table code{white-space:nowrap}\n",
    "table{border-collapse:collapse;width:100%;font-size:.9rem;line-height:1.4;"
    "font-variant-numeric:tabular-nums}\n",
    "th,td{padding:.42rem .8rem;text-align:left;vertical-align:baseline}\n",
    "th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--rule);"
    "white-space:nowrap}\n",
    "tr+tr td{border-top:1px solid var(--rule)}\n",
    ".n{text-align:right;white-space:nowrap}\n",
    "sup{line-height:0;font-size:.75em}\n",
    "details{margin:1rem 0}summary{cursor:pointer;color:var(--link)}\n",
    "details .box{max-height:32rem;overflow:auto}\n",
    "details th{position:sticky;top:0;background:var(--card)}\n",
    ".verdict{display:inline-block;min-width:3.9rem;text-align:center;font-size:.8rem;"
    "font-weight:600;padding:.05rem .5rem;border:1px solid;border-radius:1rem}\n",
    ".holds{color:var(--holds)}.limit{color:var(--limit)}.fails{color:var(--fails)}"
    ".slip{color:var(--slip)}\n",
    ".statements td{padding-top:.7rem;padding-bottom:.7rem}\n",
    ".statements .id,.statements a{white-space:nowrap}\n",
    ".statements p{margin:.2rem 0 0}\n",
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.25rem;"
    "margin:1rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n",
    NULL};

const char *const lab_report_style[] = {
    ".page{max-width:86rem;margin:0 auto;padding:2.5rem 1.5rem 4rem}\n",
    "section,header{margin:0 0 3.5rem}\n",
    "section{border-top:1px solid var(--rule);padding-top:1.75rem}\n",
    ".asked{padding:0;margin:1rem 0}\n",
    ".asked{list-style:none;columns:20rem;column-gap:2rem}"
    ".asked li{padding:.15rem 0;break-inside:avoid}.asked a{text-decoration:none}"
    ".asked a:hover{text-decoration:underline}.asked b{font-variant-numeric:tabular-nums}"
    "\n",
    "nav "
    "h2{font-size:.8rem;margin-top:1rem;letter-spacing:.08em;text-transform:uppercase;"
    "color:var(--soft)}\n",
    "nav ol{list-style:none;margin:0;padding:0;columns:15rem;column-gap:1.5rem}\n",
    "nav li{padding:.15rem 0;break-inside:avoid}\n",
    "nav a{text-decoration:none}nav a:hover{text-decoration:underline}\n",
    "nav{margin:0 0 2.5rem}\n",
    "@media(min-width:70rem){.page{display:grid;grid-template-columns:14rem "
    "minmax(0,1fr);grid-template-rows:auto 1fr;column-gap:3rem}"
    "header,main{grid-column:2}"
    "nav{grid-column:1;grid-row:1/span 2;position:sticky;top:2rem;align-self:start;"
    "max-height:calc(100vh - 4rem);overflow:auto;font-size:.9rem}nav ol{columns:1}}\n",
    ".overview td:first-child{min-width:11rem}.overview td:nth-child(2){min-width:6rem}"
    "\n",
    "@media(max-width:40rem){.page{padding:1.25rem .75rem 3rem}h1{font-size:1.6rem}"
    "section,header{margin-bottom:2.5rem}figure{padding:.25rem .25rem .6rem}"
    "th,td{padding:.4rem .55rem}.tiles{gap:.5rem}.tiles li{padding:.6rem .7rem}.tiles "
    "b{font-size:1.2rem}"
    ".overview th:nth-child(2),.overview td:nth-child(2){display:none}"
    ".overview td:first-child{min-width:9rem}"
    ".statements thead{display:none}.statements tr{display:block;padding:.6rem 0}"
    ".statements tr+tr{border-top:1px solid var(--rule)}"
    ".statements td,.statements tr+tr td{display:inline-block;border:0;"
    "padding:.1rem .55rem}.statements .text{display:block}"
    ".question .numbers tr{display:grid;grid-template-columns:1fr 1fr}"
    ".question .numbers td:first-child{grid-column:1/-1;padding-bottom:0}"
    ".question .numbers th:first-child{display:none}"
    ".question .numbers tr+tr td+td{border-top:0}.question .numbers .n{text-align:left}"
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}"
    ".asked-again{display:none}"
    ".glossary div{grid-template-columns:1fr;gap:0}.meaning{min-width:11rem}}\n",
    "@media print{:root{--bg:#fff}html{font-size:9.5pt}@page{margin:16mm 14mm}"
    ".page{padding:0;max-width:none;display:block}nav{display:none}"
    ".figures{grid-template-columns:1fr 1fr}.box{overflow:visible}"
    "th,td{padding:.25rem "
    ".4rem}section{break-before:auto;margin-bottom:1.5rem;padding-top:1rem}"
    ".asks,.answer,.formula{break-after:avoid;break-inside:avoid}"
    "h2,h3{break-after:avoid}tr{break-inside:avoid}details{display:none}"
    "a{color:inherit;text-decoration:none}}\n",
    NULL};
