import { PALETTE } from '../../kernel/html.ts';

/** The stylesheet of the pages with forms: phone first, nothing loaded from anywhere. */
export const STYLE = `
${PALETTE}
*{box-sizing:border-box}[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-font-smoothing:antialiased}
header,main{width:100%;max-width:27.5rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.75rem;padding-bottom:1.25rem}
main{flex:1;padding-bottom:3rem}
.brand{display:inline-flex;align-items:center;gap:.6rem;font-weight:650;font-size:1.0625rem;letter-spacing:-.01em;color:var(--ink);text-decoration:none}
.brand svg{width:1.75rem;height:1.75rem;display:block}
.mark{fill:var(--accent)}.stroke{fill:none;stroke:var(--on-accent);stroke-width:2.25;stroke-linecap:round;stroke-linejoin:round}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;box-shadow:var(--shadow);padding:1.5rem 1.25rem}
.card+.card{margin-top:1rem}
h1{margin:0;font-size:1.4375rem;line-height:1.25;letter-spacing:-.02em;font-weight:650;text-wrap:balance;overflow-wrap:anywhere}
h2{margin:0;font-size:1.0625rem;line-height:1.35;letter-spacing:-.01em;font-weight:650}
.lead{margin:.4rem 0 0;color:var(--soft)}
p{margin:.75rem 0 0}
form{margin:1.35rem 0 0}
.field{margin-top:1.1rem;display:block}
form>.field:first-of-type{margin-top:0}
label,legend{display:block;font-weight:550;font-size:.9375rem;padding:0}
.hint{margin:.1rem 0 0;color:var(--soft);font-size:.875rem}
form>.hint{margin-top:1.1rem}
input:not([type=checkbox]){display:block;width:100%;margin-top:.4rem;min-height:2.875rem;padding:.55rem .8rem;font:inherit;
color:var(--ink);background:var(--field);border:1px solid var(--edge);border-radius:9px}
input:not([type=checkbox]):hover{border-color:var(--soft)}
input[aria-invalid]:not([type=checkbox]){border-color:var(--bad);box-shadow:inset 0 0 0 1px var(--bad)}
.problem{margin:.4rem 0 0;color:var(--bad);font-size:.875rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
input:focus-visible{outline-offset:0;border-color:var(--accent)}
.actions{margin-top:1.5rem;display:flex;flex-direction:column;gap:.65rem}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.875rem;padding:.55rem 1.1rem;font:inherit;
font-weight:600;line-height:1.2;text-align:center;text-decoration:none;border:1px solid transparent;border-radius:9px;cursor:pointer}
.primary{background:var(--accent);color:var(--on-accent)}.primary:hover{background:var(--accent-strong)}
.plain{background:transparent;color:var(--ink);border-color:var(--edge)}.plain:hover{background:var(--tint)}
.small{min-height:2.5rem;padding:.35rem .85rem;font-size:.9375rem;font-weight:550}
.notice{margin:1.1rem 0 0;padding:.8rem .95rem;border:1px solid var(--bad-line);border-radius:10px;background:var(--bad-tint);
color:var(--bad);font-size:.9375rem;overflow-wrap:anywhere}
.notice.good{border-color:var(--good-line);background:var(--good-tint);color:var(--good)}
.notice p,.notice ul{margin:0}.notice ul{padding-left:1.1rem}.notice a{color:inherit}
main>.notice{margin:0 0 1rem}
a{color:var(--accent);text-underline-offset:.15em}a:hover{color:var(--accent-strong)}
code{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--tint);padding:.15em .4em;border-radius:5px;
overflow-wrap:anywhere}
fieldset{border:0;margin:1.35rem 0 0;padding:0;min-width:0}
.choices{list-style:none;margin:.6rem 0 0;padding:0;border:1px solid var(--line);border-radius:10px;overflow:hidden;
display:grid;gap:1px;background:var(--line)}
.choices li{background:var(--card)}
.choices label{height:100%;display:flex;gap:.75rem;align-items:flex-start;padding:.75rem .9rem;min-height:2.75rem;font-weight:500;cursor:pointer}
.choices label:hover{background:var(--tint)}
.choices label:has(:focus-visible){outline:3px solid var(--accent);outline-offset:-3px;border-radius:10px}
.choices input{flex:none;width:1.125rem;height:1.125rem;margin:.2rem 0 0;accent-color:var(--accent)}
.choices input:focus-visible{outline:0}
.choices .hint{display:block;font-weight:400;margin:0}
.rows{list-style:none;margin:1rem 0 0;padding:0}
.rows li{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;justify-content:space-between;padding:.85rem 0;border-top:1px solid var(--line)}
.rows li>div{min-width:0;flex:1 1 14rem}.rows form{margin:0}
.rows b{font-weight:550;overflow-wrap:anywhere}
.tag{display:inline-block;margin-left:.5rem;padding:.05rem .5rem;border-radius:99px;background:var(--good-tint);color:var(--good);
border:1px solid var(--good-line);font-size:.75rem;font-weight:600;vertical-align:.08em;white-space:nowrap}
.foot{margin-top:1.25rem;text-align:center;color:var(--soft);font-size:.875rem}
@media (min-width:560px){header{padding-top:3.5rem}.card{padding:2rem}.row.actions{flex-direction:row}.row.actions>*{flex:1}}
@media (forced-colors:active){.mark{fill:CanvasText}.stroke{stroke:Canvas}button,.button{border-color:ButtonText}}
`
  .trim()
  .replaceAll('\n', '');
