import type { Client, IssuedInvoices } from '../../client/client.ts';

/** Issues the invoices of a payout (`po_…`), request by request until no line is left. */
export async function issueAll(client: Client, payout: string): Promise<IssuedInvoices> {
  let issued = 0;
  for (;;) {
    const done = await client.invoices.issue(payout);
    issued += done.issued;
    // what is skipped stays open: a request that issued nothing would be repeated for ever
    if (!done.has_more || done.issued === 0) return { ...done, issued };
  }
}
