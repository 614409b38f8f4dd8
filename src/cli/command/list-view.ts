import type { Command } from 'commander';
import type { Page } from '../../client/client.ts';
import { count } from '../terminal/money.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Adds the options that choose a page of a list. */
export function withPages(command: Command, { nouns, sort }: { nouns: string; sort: string }): Command {
  return command
    .option('--sort <field>', `${sort}; - means descending`)
    .option('--page <number>', 'the page')
    .option('--per-page <number>', `${nouns} per page, at most 100`);
}

/** A page of a list as text: its table and page number, or a sentence that the list is empty. */
export function describePage<Item>(
  { data, pagination }: Page<Item>,
  noun: string,
  show: (items: readonly Item[]) => string,
  { paint }: Terminal,
  plural = `${noun}s`,
): string {
  const { total, page, pages } = pagination;
  if (total === 0) return `No ${plural} found.\n`;
  if (data.length === 0)
    return `Page ${page} is empty: ${count(total, noun, plural)}, ${count(pages, 'page')}\n`;
  return show(data) + paint.faint(`${count(total, noun, plural)}, page ${page} of ${pages}\n`);
}
