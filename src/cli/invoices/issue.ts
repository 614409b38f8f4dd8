import type { Client, IssuedInvoices, IssueInvoicesBody } from '../../client/client.ts';

/** Issues the invoices of a payout (`po_…`), request by request until no line is left. */
export async function issueAll(
  client: Client,
  payout: string,
  body: IssueInvoicesBody,
): Promise<IssuedInvoices> {
  let issued = 0;
  for (;;) {
    const done = await client.invoices.issue(payout, body);
    issued += done.issued;
    // skipped lines stay open, so a request that issued nothing is the last
    if (!done.has_more || done.issued === 0) return { ...done, issued };
  }
}
