import { readdirSync, readFileSync } from 'node:fs';
import type { World } from './world.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort();
const textOf = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');

/**
 * Runs `work` in a schema created by the migrations before `migration` (a file name). `migrate` then applies that one,
 * and with `all` also the later ones. The schema is dropped at the end.
 */
export async function before(
  { query }: World,
  migration: string,
  work: (migrate: (which?: 'all') => Promise<void>) => Promise<void>,
): Promise<void> {
  await query('create schema before');
  await query('set search_path to before, public');
  try {
    for (const name of files.filter((each) => each < migration)) await query(textOf(name));
    await work(async (which) => {
      await query(textOf(migration));
      if (which !== 'all') return;
      for (const name of files.filter((each) => each > migration)) await query(textOf(name));
    });
  } finally {
    await query('set search_path to default');
    await query('drop schema before cascade');
  }
}
