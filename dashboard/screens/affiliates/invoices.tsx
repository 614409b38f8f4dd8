import type { AffiliateWithBalance } from '../../../src/client/api.ts';
import { InvoiceTable, useInvoices } from '../../parts/invoices.tsx';
import { invoices } from '../../texts/invoices.ts';

/** The invoices of an affiliate. Renders nothing if none was issued. */
export function AffiliateInvoices({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const list = useInvoices({ affiliate_id: affiliate.id });
  if (!list.total) return null;
  return (
    <section className="part">
      <h2>{invoices.title}</h2>
      <InvoiceTable list={list} />
    </section>
  );
}
