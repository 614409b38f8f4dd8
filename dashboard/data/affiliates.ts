import { useQuery } from '@tanstack/react-query';
import type { Affiliate, AffiliateTaxProfile, AffiliateWithBalance } from '../../src/client/api.ts';
import { ApiError } from '../../src/client/errors.ts';
import { visible } from '../../src/kernel/visible.ts';
import { call } from './api.ts';
import { read } from './queries.ts';

const KNOWN_MS = 300_000;

/** The display name of an affiliate: the name, else the e-mail address. No character changes the direction of text. */
export const nameOf = ({
  name_first,
  name_last,
  email,
}: Pick<Affiliate, 'name_first' | 'name_last' | 'email'>): string =>
  visible([name_first, name_last].filter(Boolean).join(' ')) || email;

/** The affiliate with an id from another record, cached; undefined while loading. */
export function useAffiliate(id: number): Affiliate | undefined {
  return useQuery({
    ...read('getAffiliate', { path: [id] }),
    staleTime: KNOWN_MS,
    refetchOnWindowFocus: false,
  }).data;
}

/** The tax profile of an affiliate; null = there is none, undefined while loading. */
export const useTaxProfile = ({ id, has_tax_profile: isThere }: AffiliateWithBalance) =>
  useQuery<AffiliateTaxProfile | null, ApiError>({
    queryKey: ['tax profile', id, isThere],
    queryFn: async ({ signal }) => {
      if (!isThere) return null;
      // it may have been removed since
      return call('getAffiliateTaxProfile', { path: [id] }, { signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
    },
  });

/** What an affiliate lacks for a payment file, by destination or payout method; null = nothing. */
export function missingOf(affiliate: AffiliateWithBalance): 'paypal' | 'wise' | null {
  const { paypal_email: address, paid_through: method, name_first, name_last } = affiliate;
  if (method === 'wise') return `${name_first ?? ''}${name_last ?? ''}`.trim() === '' ? 'wise' : null;
  return (method ?? 'paypal') === 'paypal' && address === null ? 'paypal' : null;
}
