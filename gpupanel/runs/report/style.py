"""How a report looks: in light and dark, on a screen and on paper."""

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f7f8fa; --border: #dde1e8; --text: #1b212b; --muted: #5b6675;
  --good: #177546; --warning: #8f5a00; --error: #c2303a; --track: #e3e7ed;
  --first: #0072b2; --second: #c24a00; --heat: 0 114 178;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --card: #1c2027; --border: #2d333d; --text: #e4e8ee; --muted: #9aa4b2;
    --good: #4cc38a; --warning: #f0b44c; --error: #ff7d78; --track: #2d333d;
    --first: #4a9fe0; --second: #e8713a; --heat: 58 130 190;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 40px 24px 64px; max-width: 1080px; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
h1 { margin: 0; font-size: 30px; line-height: 1.2; letter-spacing: -0.01em; }
h2 { margin: 0 0 12px; font-size: 19px; }
h3 { margin: 20px 0 8px; font-size: 15px; }
p { margin: 8px 0; }
section { margin-top: 40px; padding-top: 24px; border-top: 1px solid var(--border); }
.eyebrow { margin: 0 0 4px; color: var(--muted); font-size: 13px; }
.muted, .name { color: var(--muted); }
.name { margin-left: 12px; }
.notes { padding: 12px 16px; border-radius: 8px; background: var(--card); white-space: pre-wrap; }
.badge {
  padding: 2px 10px; border: 1px solid currentColor; border-radius: 99px; font-weight: 600;
  font-size: 13px; color: var(--muted);
}
.badge.good { color: var(--good); }
.badge.bad { color: var(--error); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; }
pre { overflow-x: auto; white-space: pre-wrap; }
dl { margin: 0; }
dl > div {
  display: grid; grid-template-columns: minmax(120px, 2fr) minmax(0, 3fr); gap: 4px 16px;
  padding: 4px 0;
}
dt { color: var(--muted); }
dd { margin: 0; }
.pale dd { color: var(--muted); }
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px;
  margin-top: 24px;
}
.figures > div { display: block; padding: 12px 16px; border-radius: 8px; background: var(--card); }
.figures dt { font-size: 13px; }
.figures dd { font-size: 21px; font-weight: 600; }
.cards { columns: 2; column-gap: 16px; }
.card {
  display: inline-block; width: 100%; margin: 0 0 16px; padding: 4px 16px 12px;
  border-radius: 8px; background: var(--card);
}
.card h3 { margin: 8px 0 4px; }
.scrolls { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; min-width: 50%; }
th, td {
  padding: 6px 16px 6px 0; border-bottom: 1px solid var(--border); text-align: left;
  vertical-align: top;
}
thead th { color: var(--muted); font-weight: 600; font-size: 13px; white-space: nowrap; }
td:first-child { min-width: 100px; }
.number { padding-right: 0; padding-left: 24px; text-align: right; white-space: nowrap; }
.digest { display: inline-block; min-width: 10em; font-size: 12px; overflow-wrap: anywhere; }
.bar { display: block; width: 140px; height: 10px; margin-top: 7px; background: var(--track);
  border-radius: 3px; }
.bar span { display: block; height: 100%; background: var(--first); border-radius: 3px; }
.heat { min-width: 0; }
.heat th, .heat td { padding: 5px 8px; border: 0; text-align: right; font-size: 13px; }
.heat thead th { min-width: 6em; max-width: 12em; color: var(--text); font-weight: 400;
  white-space: normal; vertical-align: bottom; }
.heat tbody th { color: var(--text); font-weight: 400; }
.heat tbody td {
  min-width: 40px; border: 1px solid var(--page); white-space: nowrap;
  background: rgb(var(--heat) / calc(var(--part) * 0.6));
}
.heat .corner { color: var(--muted); white-space: nowrap; vertical-align: bottom; }
.charts { display: grid; gap: 24px;
  grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
figure { max-width: 640px; margin: 0; break-inside: avoid; }
figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-bottom: 4px; font-size: 13px; }
figcaption strong { margin-right: auto; font-size: 15px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--muted); font-size: 12px; }
.grid { stroke: var(--border); }
.axis { stroke: var(--muted); }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.s0 { stroke: var(--first); }
.s1 { stroke: var(--second); }
.line.s1 { stroke-width: 2; stroke-dasharray: 6 3; }
.dashed { stroke-dasharray: 4 3; }
.dots { fill: none; stroke: var(--first); stroke-opacity: 0.45; stroke-width: 4;
  stroke-linecap: round; }
.bin { fill: var(--first); stroke: var(--page); stroke-width: 0.5; }
.dot.s0 { fill: var(--first); }
.dot.s1 { fill: var(--second); }
.key { display: inline-block; width: 22px; margin-right: 6px; border-top: 2px solid var(--first);
  vertical-align: middle; }
.key.s1 { border-top: 2px dashed var(--second); }
.blocks { max-width: 480px; margin-top: 8px; background: var(--card); }
.cell { fill: rgb(var(--heat) / calc(0.15 + var(--part) * 0.85)); }
.problem { margin: 12px 0; padding: 4px 16px; border-left: 4px solid var(--muted);
  background: var(--card); }
.problem.error { border-color: var(--error); }
.problem.warning { border-color: var(--warning); }
footer { margin-top: 48px; color: var(--muted); font-size: 13px; }
@media (max-width: 720px) {
  .cards { columns: 1; }
  .charts { grid-template-columns: 1fr; }
  svg text { font-size: 17px; }
}
@media print {
  :root {
    --page: #ffffff; --card: #f7f8fa; --border: #cccccc; --text: #000000; --muted: #444444;
    --good: #177546; --warning: #8f5a00; --error: #c2303a; --track: #e3e7ed;
    --first: #0072b2; --second: #c24a00; --heat: 0 114 178;
  }
  @page { margin: 14mm; }
  body { padding: 0; font-size: 10pt;
    print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .charts { grid-template-columns: 1fr 1fr; }
  svg text { font-size: 16px; }
  section { margin-top: 20px; padding-top: 14px; }
  h2, h3, section > p { break-after: avoid; }
  .card { display: block; }
  .scrolls { overflow: visible; }
  .heat th, .heat td, .heat thead th, .heat tbody td {
    min-width: 0; padding: 3px 2px; font-size: 6.5pt;
  }
  details::details-content { display: block; content-visibility: visible; }
  tr, dl > div, .problem, .heat { break-inside: avoid; }
}
"""
"""Style sheet; the colours are those of the window."""
