import type { PapersOf } from '../alerts/sender/affiliates.ts';
import { Failure } from '../kernel/errors.ts';
import { uuidOf } from '../kernel/ids.ts';
import type { Vault } from '../kernel/vault.ts';
import { invoicesOf } from '../money/invoices/attach.ts';
import { statementOf } from '../money/reports/attach.ts';
import { PAPER_TYPES } from '../papers/reply.ts';
import type { Threads } from '../threads/pool.ts';

/** Reasons for which the notice goes without a document: trying again would not help. */
const WITHOUT = ['tax_id_lost', 'invalid_query', 'resource_missing'];

/** Makes what is attached to the notice of a payment: its invoices, else the statement. */
export function noticePapers({ vault, threads }: { vault: Vault; threads: Threads }): PapersOf {
  return async (db, { account, affiliate, payout: id }) => {
    const payout = uuidOf('po', id);
    if (payout === null) return null;
    const of = { account, affiliate, payout };
    try {
      const invoices = await invoicesOf({ db, vault, threads }, of);
      const statement = invoices.length > 0 ? null : await statementOf({ db, threads }, of);
      const files = statement === null ? invoices : [statement];
      if (files.length === 0) return null;
      return {
        kind: statement === null ? 'invoice' : 'statement',
        files: files.map((file) => ({ ...file, type: PAPER_TYPES.pdf })),
      };
    } catch (error) {
      if (error instanceof Failure && WITHOUT.includes(error.reason)) return null;
      throw error;
    }
  };
}
