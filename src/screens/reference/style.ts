import { PALETTE } from '../../kernel/html.ts';

/** The stylesheet of the reference: phone first, two columns where there is room, and on paper. */
export const REFERENCE_STYLE = `
${PALETTE}
:root{--code:#f2f4f9;--code-line:#dde2ec;--key:#3a3f86;--string:#0b6b3a;--value:#a03a12;--amber:#8a5200;--amber-tint:#fdf3e2;--bar:#ffffffeb}
@media (prefers-color-scheme:dark){:root{--code:#12161c;--code-line:#252c36;--key:#b4bfff;--string:#86d9ab;--value:#f3ac7c;
--amber:#eebc6b;--amber-tint:#2b2110;--bar:#12161ceb}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:4.75rem}
body{margin:0;background:var(--card);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
-webkit-font-smoothing:antialiased;overflow-wrap:break-word}
a{color:var(--accent);text-underline-offset:.15em;text-decoration-thickness:.06em}a:hover{color:var(--accent-strong)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
code,pre,var{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-style:normal}
code{font-size:.875em;background:var(--tint);padding:.12em .35em;border-radius:5px;overflow-wrap:anywhere}
p{margin:.75rem 0 0}ul{margin:.75rem 0 0;padding-left:1.2rem}li{margin:.3rem 0 0}
.skip{position:absolute;left:1rem;top:-4rem;z-index:9;padding:.5rem 1rem;background:var(--card);border-radius:8px}.skip:focus{top:.5rem}
.top{position:sticky;top:0;z-index:5;height:3.5rem;padding:0 1.25rem;display:flex;align-items:center;gap:.75rem;
background:var(--bar);border-bottom:1px solid var(--line);backdrop-filter:blur(10px)}
.brand{display:inline-flex;align-items:center;gap:.55rem;font-weight:650;letter-spacing:-.01em;color:var(--ink);text-decoration:none}
.brand svg{width:1.625rem;height:1.625rem;display:block}
.mark{fill:var(--accent)}.stroke{fill:none;stroke:var(--on-accent);stroke-width:2.25;stroke-linecap:round;stroke-linejoin:round}
.what{color:var(--soft);padding-left:.75rem;border-left:1px solid var(--line);font-size:.9375rem;white-space:nowrap}
.raw{margin-left:auto;font-size:.9375rem}
.menu{border-bottom:1px solid var(--line)}.menu>summary{padding:.7rem 1.25rem;font-weight:600;cursor:pointer}
.menu nav{padding:0 1.25rem 1rem}
.side{display:none}
nav ul{list-style:none;margin:0;padding:0}nav li{margin:0}
.side>p,.menu nav>p{margin:1.4rem 0 .3rem;padding:0 .6rem;font-size:.8125rem;font-weight:650;letter-spacing:.01em;color:var(--soft)}
.side a,.menu nav a{display:block;padding:.3rem .6rem;border-radius:7px;color:var(--ink);text-decoration:none;font-size:.9375rem;line-height:1.4}
.side a:hover,.menu nav a:hover{background:var(--tint)}
.side [aria-current],.menu nav [aria-current]{color:var(--accent);font-weight:600;background:var(--tint)}
.side li ul,.menu nav li ul{margin:.15rem 0 .5rem .6rem;padding-left:.35rem;border-left:1px solid var(--line)}
.side li li a,.menu nav li li a{font-size:.875rem;color:var(--soft);padding:.22rem .6rem}
.side li li a:hover,.menu nav li li a:hover{color:var(--ink)}
main{display:block;width:100%;min-width:0;padding:2rem 1.25rem 4rem;max-width:88rem;margin:0 auto}
h1{margin:0;font-size:2rem;line-height:1.2;letter-spacing:-.025em;font-weight:680;text-wrap:balance}
h2{margin:0;font-size:1.375rem;line-height:1.3;letter-spacing:-.015em;font-weight:650;text-wrap:balance}
h3{margin:1.75rem 0 0;font-size:.9375rem;line-height:1.4;font-weight:650}
.anchor{color:inherit;text-decoration:none}.anchor:hover{color:inherit;text-decoration:underline}
.lead{max-width:46rem;color:var(--soft);font-size:1.0625rem}.lead code{color:var(--ink)}
.list{list-style:none;margin:1.75rem 0 0;padding:.35rem;border:1px solid var(--line);border-radius:14px;max-width:58rem;font-size:.9375rem}
.list li{margin:0}.list a{display:flex;flex-wrap:wrap;gap:.15rem .6rem;align-items:baseline;padding:.45rem .65rem;border-radius:9px;color:var(--ink);text-decoration:none}
.list a:hover{background:var(--tint)}.list span:last-child{color:var(--soft);flex-basis:100%}
.method{display:inline-block;min-width:5em;padding:.05em .5em;border-radius:6px;text-align:center;font:650 .75rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.get{color:var(--good);background:var(--good-tint)}.post{color:var(--accent);background:var(--tint)}
.put,.patch{color:var(--amber);background:var(--amber-tint)}.delete{color:var(--bad);background:var(--bad-tint)}
.path{background:none;padding:0}.path var{color:var(--soft)}
.groups{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr));margin:1.75rem 0 0;max-width:62rem}
.group{border:1px solid var(--line);border-radius:14px;padding:1.1rem 1.25rem}
.group h2{font-size:1rem}.group ul{list-style:none;padding:0;margin:.5rem 0 0}.group li{display:flex;justify-content:space-between;gap:1rem;flex-wrap:wrap}
.group li span{color:var(--soft);font-size:.875rem}
.op,.records{margin-top:3rem;padding-top:3rem;border-top:1px solid var(--line)}
.text,.shown{min-width:0}.text{max-width:46rem}
.route{display:flex;flex-wrap:wrap;gap:.35rem .6rem;align-items:baseline;font-size:.9375rem}
.who{list-style:none;display:flex;flex-wrap:wrap;gap:.4rem;padding:0;font-size:.8125rem}
.who li{margin:0;padding:.1rem .6rem;border:1px solid var(--line);border-radius:99px;color:var(--soft)}
.fields{list-style:none;padding:0;margin:.6rem 0 0;border-top:1px solid var(--line)}
.fields>li{margin:0;padding:.75rem 0;border-bottom:1px solid var(--line)}
.fields p{margin:.25rem 0 0;font-size:.9375rem}.fields ul:not(.fields){font-size:.9375rem;margin:.25rem 0 0}
.fields .name{margin:0;display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:baseline}
.name>code,.name>a>code{font-weight:600;background:none;padding:0;color:var(--ink)}.remarks>p{display:inline}.remarks>ul+p{display:block}
.type{color:var(--soft);font-size:.875rem}.type code{background:none;padding:0}
.must{color:var(--amber);font-size:.8125rem;font-weight:600}
.fields .rules,.rules{color:var(--soft);font-size:.875rem}.rules code{color:var(--ink);white-space:nowrap}
details{margin-top:.6rem}summary{cursor:pointer;color:var(--accent);font-size:.9375rem;font-weight:550}
.menu summary{color:var(--ink)}
details>.fields{margin-left:.35rem;padding-left:.9rem;border-left:2px solid var(--line);border-top:0}
.common{list-style:none;padding:0;font-size:.875rem}
.reasons{width:100%;margin:.6rem 0 0;border-collapse:collapse;font-size:.9375rem}
.reasons th{text-align:left;font-size:.8125rem;font-weight:600;color:var(--soft);padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line)}
.reasons td{padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:top}
.reasons td:last-child,.reasons th:last-child{padding-right:0}
.code{margin:1.25rem 0 0;border:1px solid var(--code-line);border-radius:12px;background:var(--code);overflow:hidden;min-width:0}
figcaption{padding:.5rem .95rem;border-bottom:1px solid var(--code-line);font-size:.8125rem;font-weight:600;color:var(--soft)}
pre{margin:0;padding:.85rem .95rem;overflow:auto;font-size:.8125rem;line-height:1.6;max-height:34rem;tab-size:2}
pre:focus-visible{outline-offset:-3px;border-radius:10px}
pre code{font-size:inherit;background:none;padding:0;border-radius:0;overflow-wrap:normal}
details.code>summary{padding:.5rem .95rem;font-size:.8125rem;font-weight:600;color:var(--soft)}details.code[open]>summary{border-bottom:1px solid var(--code-line)}
.k{color:var(--key)}.s{color:var(--string)}.n{color:var(--value)}.h{color:var(--soft)}.h,.wrap pre{white-space:pre-wrap;overflow-wrap:anywhere}
.records>.fields,.record{max-width:52rem}.record{margin-top:2.5rem}.record h3{font-size:1.0625rem;margin-top:0}
.turn{display:flex;justify-content:space-between;gap:1rem;margin-top:4rem;padding-top:1.5rem;border-top:1px solid var(--line)}
.turn a{display:block;text-decoration:none;font-weight:600;padding:.35rem 0}.turn a[rel=next]{text-align:right}
.turn small{display:block;font-weight:400;font-size:.8125rem;color:var(--soft)}
@media (min-width:40rem){.list a{flex-wrap:nowrap}.list span:last-child{flex:1 0 auto;text-align:right;padding-left:1rem}}
@media (min-width:64rem){.menu{display:none}.frame{display:grid;grid-template-columns:17rem minmax(0,1fr)}
.side{display:block;position:sticky;top:3.5rem;height:calc(100vh - 3.5rem);overflow-y:auto;padding:1.25rem .9rem 2rem;border-right:1px solid var(--line);
scrollbar-width:thin}
main{padding:2.75rem 3rem 5rem}.top{padding:0 1.5rem}}
@media (min-width:80rem){.op{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 3.5rem}
.stay{position:sticky;top:5rem;display:flex;flex-direction:column;max-height:calc(100vh - 6.5rem)}
.stay .code{flex:0 1 auto;display:flex;flex-direction:column;min-height:6rem}.stay .code:first-child{margin-top:0}
.stay details.code{display:block;flex:0 0 auto;min-height:0}.stay .request{flex-shrink:0}.stay .request pre{max-height:40vh}.stay pre{max-height:none}.stay details pre{max-height:40vh}}
@supports (scroll-target-group:auto){.side li ul{scroll-target-group:auto}.side li li a:target-current{color:var(--accent);font-weight:550}}
@media (forced-colors:active){.mark{fill:CanvasText}.stroke{stroke:Canvas}}
@media print{.top,.menu,.side,.turn,.skip{display:none!important}.frame{display:block}main{padding:0;max-width:none}
pre{max-height:none!important;white-space:pre-wrap;overflow-wrap:anywhere}.stay{position:static;max-height:none}
.code{break-inside:avoid}h2,h3,.route{break-after:avoid}details::details-content{content-visibility:visible;block-size:auto}
.op{display:block}a{color:inherit}}
`
  .trim()
  .replaceAll('\n', '');
