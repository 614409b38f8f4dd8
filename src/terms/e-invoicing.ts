/**
 * Countries in which an invoice between two businesses that are registered for VAT there is not valid as a PDF, with the channel that
 * takes it, since when, and where that was read. Checked on 2026-11-27. In France businesses with fewer than 250 employees may issue as
 * before until 2027-09-01, and in Poland those with sales below 200 million PLN could until 2026-04-01.
 */
export const CHANNELS = {
  BE: { channel: 'peppol', since: '2026-01-01', source: 'clearvo.io, pdf4.dev (EY tax alert)' },
  FR: { channel: 'approved_platform', since: '2026-09-01', source: 'pdf4.dev (EY), themoneytimes.media' },
  PL: {
    channel: 'ksef',
    since: '2026-02-01',
    source: 'VAT act, article 106ga, in nex.katowice.pl; pit.pl, clearvo.io',
  },
} as const;
