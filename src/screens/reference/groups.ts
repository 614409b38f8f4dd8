import { escapeHtml } from '../../kernel/html.ts';
import { addressOf, GROUPS, type Section } from './sections.ts';

/** All sections in their groups, each with a remark in plain text. */
export function groupsHtml(remark: (section: Section) => string): string {
  const groups = GROUPS.map(({ title, sections }) => {
    const items = sections.map((section) => {
      const name = `<a href="${addressOf(section)}">${escapeHtml(section.title)}</a>`;
      return `<li>${name} <span>${escapeHtml(remark(section))}</span></li>`;
    });
    return `<section class="group"><h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul></section>`;
  });
  return `<div class="groups">${groups.join('')}</div>`;
}
