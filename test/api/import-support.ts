import { beforeEach } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { useAccount, useWorld, type World } from '../support/world.ts';
import { allOf, COMMISSIONS, expectRefusal, type Json, makeAffiliate, nothingChanges } from './fixtures.ts';

const IMPORT = `${COMMISSIONS}/import`;

export const csv = (header: string, ...lines: string[]) => [header, ...lines, ''].join('\n');
export const simple = (...lines: string[]) => csv('external_id,affiliate_id,amount', ...lines);

/** A world for importing commissions, with an account of its own for each test. */
export interface ImportWorld {
  readonly world: World;
  readonly api: Api;
  /** The id of the account's one affiliate: Ada, external id `ada`. */
  ada(): number;
  upload(file: string | Uint8Array, query?: string): Promise<Answer>;
  /** External id, amount and currency of each commission, oldest first. */
  stored(): Promise<Json[]>;
  /** The file is refused as a whole and every row stays. */
  refused(file: string | Uint8Array, reason: string, ...parts: string[]): Promise<void>;
}

export function useImports(): ImportWorld {
  const world = useWorld();
  const api = useAccount(world);
  let ada: number;
  beforeEach(async () => {
    ada = (await makeAffiliate(api, { email: 'ada@example.com', external_id: 'ada' })).id;
  });
  const upload = (file: string | Uint8Array, query = '') => api.upload(IMPORT + query, file);
  return {
    world,
    api,
    ada: () => ada,
    upload,
    stored: async () =>
      (await allOf(api, `${COMMISSIONS}?sort=id`)).map((row: Json) => [
        row.external_id,
        row.amount,
        row.currency,
      ]),
    refused: (file, reason, ...parts) =>
      nothingChanges(world, async () => {
        for (const query of reason === 'invalid_file' ? ['', '?dry_run=true', '?partial=true'] : [''])
          expectRefusal(await upload(file, query), 400, reason, ...parts);
      }),
  };
}
