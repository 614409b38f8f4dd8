import type { Command } from 'commander';
import { collect, readPairs } from './pairs.ts';

/** The values of --metadata, as typed. */
export interface MetadataOption {
  readonly metadata?: readonly string[];
}

/** Adds --metadata to a command; `about` describes its effect on existing metadata. */
export function withMetadata(command: Command, about = ''): Command {
  const help = `your own key and text; may be repeated${about}`;
  return command.option('--metadata <key=value>', help, collect);
}

/** For commands that change a record. */
export const REPLACES = '; replaces all existing ones, "" removes all';

/** `['a=1', 'b=x=y']` -> `{a: '1', b: 'x=y'}`, and `['']` -> `{}`. Throws a UsageError. */
export function readMetadata(pairs: readonly string[] | undefined): Record<string, string> | undefined {
  return pairs?.length === 1 && pairs[0] === '' ? {} : readPairs('--metadata', pairs, '=');
}

/** Metadata for people: `campaign=autumn, note=`; null when there are none. */
export function describeMetadata(metadata: Readonly<Record<string, string>> | null): string | null {
  const pairs = Object.entries(metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.join(', ') || null;
}
