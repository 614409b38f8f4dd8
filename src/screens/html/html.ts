import { html, type PageReply } from '../../contract/web-pages.ts';
import { escapeHtml, escapeValue } from '../../kernel/html.ts';
import { STYLE } from './style.ts';

/** Attributes of an element; undefined and false leave one out, true gives it without a value. */
function attributes(values: Readonly<Record<string, string | boolean | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (value === undefined || value === false) return '';
      return value === true ? ` ${name}` : ` ${name}="${escapeValue(value)}"`;
    })
    .join('');
}

/** The mark of the brand. */
export const LOGO =
  '<svg viewBox="0 0 28 28" aria-hidden="true"><rect class="mark" width="28" height="28" rx="8"/>' +
  '<path class="stroke" d="M10 20.5V7.5h4.6a4.1 4.1 0 0 1 0 8.2h-1.1"/><path class="stroke" d="m15.6 13-2.7 2.7 2.7 2.7"/></svg>';

/** The logo as a browser icon: a data URL. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28"><rect width="28" height="28" rx="8" fill="#3347c8"/>' +
    '<g fill="none" stroke="#fff" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round">' +
    '<path d="M10 20.5V7.5h4.6a4.1 4.1 0 0 1 0 8.2h-1.1"/><path d="m15.6 13-2.7 2.7 2.7 2.7"/></g></svg>',
)}`;

/** The content of a page. Everything but `title` is HTML, made of `escapeHtml` and the functions below. */
export interface Layout {
  /** Plain text, the name of the page in the browser. */
  readonly title: string;
  /** The content of `main`, usually one `card`. */
  readonly body: string;
  /** Of the page; default: en. */
  readonly language?: string;
}

/** A page: the HTML document around its content. */
export function layout({ title, body, language }: Layout): string {
  return htmlDocument({
    title,
    language,
    style: STYLE,
    body: `<header><a class="brand" href="/">${LOGO}Payhook</a></header><main>${body}</main>`,
  });
}

/** A whole HTML document. `title` is plain text, `style` a stylesheet, `body` HTML. */
export function htmlDocument({
  title,
  style,
  body,
  language = 'en',
}: {
  title: string;
  style: string;
  body: string;
  language?: string | undefined;
}): string {
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">' +
    '<meta name="color-scheme" content="light dark">' +
    `<title>${escapeHtml(title)} · Payhook</title><link rel="icon" href="${ICON}"><style>${style}</style></head>` +
    `<body>${body}</body></html>`
  );
}

/** A card, which holds every message and form. `title` and `lead` are plain text, `body` is HTML. */
export function card({
  title,
  lead,
  body = '',
  level = 1,
}: {
  title: string;
  lead?: string;
  body?: string;
  level?: 1 | 2;
}): string {
  const intro = lead === undefined ? '' : `<p class="lead">${escapeHtml(lead)}</p>`;
  return `<section class="card"><h${level}>${escapeHtml(title)}</h${level}>${intro}${body}</section>`;
}

const HEADINGS: Readonly<Record<number, string>> = {
  400: 'That did not work',
  403: 'This is not allowed',
  404: 'Page not found',
  410: 'This link no longer works',
  429: 'Too many attempts',
  503: 'Too much to do at the moment',
};

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Where a page that leads nowhere else sends its reader. */
interface Next {
  readonly href: string;
  readonly label: string;
}

const TO_START: Next = { href: '/', label: 'Go to the start page' };

/** A page that says what is wrong and what to do about it, in plain text, with a link to continue by. */
export function errorPage(status: number, message: string, next: Next = TO_START): PageReply {
  const title = HEADINGS[status] ?? (status < 500 ? 'That did not work' : 'Something went wrong');
  const link = `<a class="button plain" href="${escapeValue(next.href)}">${escapeHtml(next.label)}</a>`;
  const body = card({ title, lead: sentence(message), body: actions([link]) });
  return html(status, layout({ title, body }));
}

/** A mistake in a form: a plain text message, and its field. */
export interface Problem {
  readonly field?: string;
  readonly message: string;
}

/** The id of the error summary, which describes the fields it names. */
const SUMMARY = 'problems';
const idOf = (name: string) => `field-${name}`;

/** The errors of a form, shown at its top with links to the fields; empty without errors. */
export function errorSummary(problems: readonly Problem[]): string {
  if (problems.length === 0) return '';
  const items = problems.map(({ field, message }) => {
    const text = escapeHtml(sentence(message));
    return field === undefined ? text : `<a href="#${idOf(field)}">${text}</a>`;
  });
  const inside =
    items.length === 1
      ? `<p>${items[0]}</p>`
      : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
  return `<div class="notice" id="${SUMMARY}" role="alert">${inside}</div>`;
}

/** A plain text confirmation of an action. */
export function goodNotice(text: string): string {
  return `<div class="notice good" role="status"><p>${escapeHtml(text)}</p></div>`;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'password';
  readonly value?: string;
  readonly hint?: string;
  /** What the browser may fill in (the `autocomplete` attribute). */
  readonly autocomplete: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly autofocus?: boolean;
}

/** A required field with its label, its hint, and its problem from `problems`. */
export function field(spec: Field, problems: readonly Problem[] = []): string {
  const problem = problems.find(({ field: name }) => name === spec.name);
  // if the only problem is about the whole form, the summary describes its fields
  const general = problems.some(({ field: name }) => name === undefined);
  const id = idOf(spec.name);
  const described = [
    ...(spec.hint ? [`${id}-hint`] : []),
    ...(problem ? [`${id}-problem`] : []),
    ...(general ? [SUMMARY] : []),
  ].join(' ');
  const input = attributes({
    id,
    name: spec.name,
    type: spec.type,
    value: spec.value,
    autocomplete: spec.autocomplete,
    required: true,
    minlength: spec.minLength?.toString(),
    maxlength: spec.maxLength?.toString(),
    // the first field with a problem, else the first of the form
    autofocus: problems[0]?.field === undefined ? spec.autofocus : problems[0].field === spec.name,
    autocapitalize: spec.type === 'text' ? undefined : 'none',
    spellcheck: 'false',
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': described || undefined,
  });
  const hint = spec.hint ? `<p class="hint" id="${id}-hint">${escapeHtml(spec.hint)}</p>` : '';
  const wrong = problem
    ? `<p class="problem" id="${id}-problem">${escapeHtml(sentence(problem.message))}</p>`
    : '';
  return `<div class="field"><label for="${id}">${escapeHtml(spec.label)}</label>${hint}<input${input}>${wrong}</div>`;
}

/** A hidden field. */
export function hidden(name: string, value: string): string {
  return `<input${attributes({ type: 'hidden', name, value })}>`;
}

/** A button that submits its form, with a name and value if given. */
export function button(
  label: string,
  options: {
    kind?: 'primary' | 'plain';
    small?: boolean;
    name?: string;
    value?: string;
    /** The accessible name, instead of the label. */
    says?: string;
  } = {},
): string {
  const { kind = 'primary', small, name, value, says } = options;
  const given = attributes({
    type: 'submit',
    class: small ? `${kind} small` : kind,
    name,
    value,
    'aria-label': says,
  });
  return `<button${given}>${escapeHtml(label)}</button>`;
}

/** A form that posts to a path on this server. `inside` is HTML. */
export function form(action: string, inside: string): string {
  return `<form${attributes({ method: 'post', action, novalidate: true })}>${inside}</form>`;
}

/** The buttons of a form, one below the other; `row` puts them side by side on wide screens. */
export function actions(buttons: readonly string[], { row = false } = {}): string {
  return `<div class="${row ? 'row actions' : 'actions'}">${buttons.join('')}</div>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
}

/** Checkboxes of one name, each with its label and hint; `problems` are those of the form. */
export function checkboxList(
  legend: string,
  name: string,
  choices: readonly Choice[],
  problems: readonly Problem[] = [],
): string {
  const isWrong = problems.length > 0;
  const items = choices.map(({ value, label, hint, checked }, index) => {
    const box = attributes({ type: 'checkbox', name, value, checked, autofocus: isWrong && index === 0 });
    const more = hint === undefined ? '' : `<span class="hint">${escapeHtml(hint)}</span>`;
    return `<li><label><input${box}><span>${escapeHtml(label)}${more}</span></label></li>`;
  });
  const described = attributes({ 'aria-describedby': isWrong ? SUMMARY : undefined });
  return `<fieldset${described}><legend>${escapeHtml(legend)}</legend><ul class="choices">${items.join('')}</ul></fieldset>`;
}
