import { escapeHtml, escapeValue, PALETTE } from '../kernel/html.ts';
import type { Paper, Party, Row, Table } from './paper.ts';

const STYLE = `${PALETTE}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:52rem;margin:0 auto;padding:2.5rem 1.25rem}
article{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2rem 1.5rem}
h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.02em;font-weight:650}
h2{margin:2rem 0 .5rem;font-size:1.0625rem;font-weight:650;break-after:avoid}
.parties{display:flex;flex-wrap:wrap;gap:1.25rem 3rem;margin:1.25rem 0}
.parties>div{flex:1 1 14rem;min-width:0;overflow-wrap:anywhere}
.label,dt,th,.notes{color:var(--soft);font-size:.875rem;font-weight:400}
.parties p{margin:0}.parties b{font-weight:650}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1.5rem;margin:1rem 0 0}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
thead{display:table-header-group}tr{break-inside:avoid}
th,td{padding:.35rem .75rem .35rem 0;text-align:start;vertical-align:top;border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere}.short{white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
.figure{text-align:right;white-space:nowrap}
.sum td{font-weight:600}
.notes{margin-top:1.5rem}.notes p{margin:.25rem 0}
@media print{@page{size:A4;margin:20mm}:root:root:root{color-scheme:light;--ground:#fff;--card:#fff;--ink:#171b22;--soft:#5a6473;--line:#d5dae1}
body,.label,dt,th,.notes{font-size:9pt}main{max-width:none;padding:0}article{border:0;border-radius:0;padding:0}.scroll{overflow:visible}}
`.replaceAll('\n', '');

/** Days and kinds of entries stay on one line; long ids are broken. */
const LONGEST_SHORT = 20;

/** The document as one HTML page without scripts, to read and to print. */
export function pageOf({ title, name, parties, facts, tables, notes }: Paper): string {
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<div class="parties">${parties.map(partyOf).join('')}</div>`,
    `<dl>${facts.map(([fact, value]) => `<dt>${escapeHtml(fact)}</dt><dd>${own(value)}</dd>`).join('')}</dl>`,
    ...tables.map(tableOf),
    `<div class="notes">${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('')}</div>`,
  ];
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">' +
    `<meta name="color-scheme" content="light dark"><title>${escapeHtml(name)}</title><style>${STYLE}</style></head>` +
    `<body><main><article>${body.join('')}</article></main></body></html>`
  );
}

/** User text, isolated so that it does not affect the direction of the text around it. */
const own = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`;

const partyOf = ({ label, name, lines }: Party) =>
  `<div><p class="label">${escapeHtml(label)}</p><p><b>${own(name)}</b></p>${lines.map((line) => `<p>${own(line)}</p>`).join('')}</div>`;

function tableOf({ title, columns, rows }: Table): string {
  const kind = (index: number, cell = '') => {
    if (columns[index]?.isFigure) return ' class="figure"';
    return cell.length <= LONGEST_SHORT ? ' class="short"' : '';
  };
  const head = columns.map(
    (column, index) => `<th scope="col"${kind(index)}>${escapeHtml(column.title)}</th>`,
  );
  const rowOf = ({ cells, isSum }: Row) =>
    `<tr${isSum ? ' class="sum"' : ''}>${cells.map((cell, index) => `<td${kind(index, cell)}>${own(cell)}</td>`).join('')}</tr>`;
  return (
    `<section><h2>${escapeHtml(title)}</h2><div class="scroll" role="region" tabindex="0" aria-label="${escapeValue(title)}"><table><thead><tr>${head.join('')}</tr></thead>` +
    `<tbody>${rows.map(rowOf).join('')}</tbody></table></div></section>`
  );
}
