import { escapeHtml } from '../../kernel/html.ts';

/** Finds the address of what a word in code names, or null. */
export type Linker = (word: string) => string | null;

const CODE = /`([^`]+)`/g;

/** Plain text with `code` in it, as HTML; code that names something explained elsewhere leads there. */
export function inline(text: string, linker: Linker = () => null): string {
  let html = '';
  let end = 0;
  for (const match of text.matchAll(CODE)) {
    const [whole, word = ''] = match;
    html += escapeHtml(text.slice(end, match.index));
    html += linked(word, linker(word));
    end = match.index + whole.length;
  }
  return html + escapeHtml(text.slice(end));
}

/** A word in code, leading to where it is explained if it is. */
export function linked(word: string, address: string | null): string {
  const code = `<code>${escapeHtml(word)}</code>`;
  return address === null ? code : `<a href="${escapeHtml(address)}">${code}</a>`;
}

/** Paragraphs and lists (lines that begin with `- `), as HTML. */
export function paragraphs(text: string, linker?: Linker): string {
  return text
    .split(/\n{2,}/)
    .map((block) => {
      const [first = '', ...rest] = block.split(/\n- /);
      const items = rest.map((item) => `<li>${inline(item, linker)}</li>`).join('');
      return `<p>${inline(first, linker)}</p>${items === '' ? '' : `<ul>${items}</ul>`}`;
    })
    .join('');
}

const BEGINS_WITH_WORD = /^(?!null\b|true\b|false\b|https?\b)[a-z]+\b(?! [=:]|[:_.[*])/;

/** A remark of a schema as a sentence; what begins with a name or a value keeps its small letter. */
export function sentenceOf(remark: string): string {
  const begun = BEGINS_WITH_WORD.test(remark) ? remark.charAt(0).toUpperCase() + remark.slice(1) : remark;
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

/** A figure as people read it: `1,000`. */
export const figure = (value: number): string => value.toLocaleString('en-US');

/** Words in a row: `a, b or c`. */
export function either(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
