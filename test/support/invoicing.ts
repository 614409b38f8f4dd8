import { expect } from 'vitest';
import type { Api } from './api.ts';

/** A VAT id with a valid check digit. */
export const VAT_ID = 'DE136695976';

const ADDRESS = { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' };

/** The merchant's side of invoices: their name and address, and a tax on supplies of German businesses, 19 % by default. */
export async function letInvoice(
  api: Api,
  { rate = 1900, ...more }: { rate?: number; commissions_are?: 'net'; backup_withholding?: 'always' } = {},
): Promise<void> {
  const answer = await api.patch('/v2/account', {
    tax_profile: { legal_name: 'Muster GmbH', country: 'DE', address: ADDRESS, vat_id: VAT_ID },
    invoicing: { rules: [{ country: 'DE', has_vat_id: true, category: 'S', rate }] },
    ...more,
  });
  expect(answer.status, answer.text).toBe(200);
}

/** A body of issuing with the rate for payments in dollars to affiliates in Germany, on the day of the payment. */
export const withRate = (paidAt: string) => ({
  rates: [
    {
      ...{ currency: 'usd', national_currency: 'eur', rate: '0.8675', source: 'ECB' },
      quoted_on: paidAt.slice(0, 10),
    },
  ],
});

/** An affiliate agrees that the merchant writes their invoices, before any payment of a test. */
export async function agree(api: Api, affiliate: number, number = VAT_ID, more: object = {}): Promise<void> {
  const answer = await api.put(`/v2/affiliates/${affiliate}/tax-profile`, {
    legal_type: 'business',
    legal_name: `Partner ${affiliate} GmbH`,
    country: 'DE',
    address: ADDRESS,
    tax_id: { type: 'vat', number },
    self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' },
    ...more,
  });
  expect(answer.status, answer.text).toBe(200);
}
