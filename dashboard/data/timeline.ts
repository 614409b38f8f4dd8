import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditEntry, Commission, PayoutSummary, Refund } from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { call } from './api.ts';
import type { TimelineKind } from './timeline-kinds.ts';

/** An entry of an affiliate's timeline; `at` is when it was recorded. */
export type TimelineEntry = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'commission' | 'adjustment' | 'return'; readonly commission: Commission }
  | { readonly kind: 'refund'; readonly refund: Refund }
  | { readonly kind: 'payout'; readonly payout: PayoutSummary }
  | { readonly kind: 'change'; readonly change: AuditEntry }
);

interface Chunk {
  readonly entries: readonly TimelineEntry[];
  /** null = this was the last page. */
  readonly next: string | null;
}

type Source = (affiliate: number, after: string | undefined, signal: AbortSignal) => Promise<Chunk>;

/** How many entries to load from each source, and at least to show, at a time. */
const SOME = 20;

const SOURCES: Readonly<Record<'commissions' | 'refunds' | 'payouts' | 'changes', Source>> = {
  async commissions(affiliate_id, after, signal) {
    const query = { affiliate_id, after, per_page: SOME };
    const { data, pagination } = await call('listCommissions', { query }, { signal });
    // a clawback is shown with its refund
    const entries = data
      .filter(({ type }) => type !== 'clawback')
      .map((commission) => ({
        key: commission.id,
        at: commission.created_at,
        kind: kindOf(commission),
        commission,
      }));
    return { entries, next: pagination.next };
  },
  async refunds(affiliate_id, after, signal) {
    const query = { affiliate_id, after, per_page: SOME };
    const { data, pagination } = await call('listRefunds', { query }, { signal });
    const entries = data.map((refund) => ({
      key: refund.id,
      at: refund.created_at,
      kind: 'refund' as const,
      refund,
    }));
    return { entries, next: pagination.next };
  },
  async payouts(affiliate_id, after, signal) {
    const query = { affiliate_id, after, per_page: SOME };
    const { data, pagination } = await call('listPayouts', { query }, { signal });
    const entries = data.map((payout) => ({
      key: payout.id,
      at: payout.created_at,
      kind: 'payout' as const,
      payout,
    }));
    return { entries, next: pagination.next };
  },
  async changes(affiliate, after, signal) {
    const query = { target: String(affiliate), after, per_page: SOME };
    const { data, pagination } = await call('listAuditLog', { query }, { signal });
    // other resources have numeric ids too
    const entries = data
      .filter(({ action }) => action === 'createAffiliate' || action === 'changeAffiliate')
      .map((change) => ({ key: change.id, at: change.created_at, kind: 'change' as const, change }));
    return { entries, next: pagination.next };
  },
};

type SourceName = keyof typeof SOURCES;

/** Payhook prefixes the external_ids of its own records. */
const kindOf = ({ type, external_id }: Commission) =>
  type !== 'adjustment'
    ? ('commission' as const)
    : external_id.startsWith('payhook:returned:')
      ? ('return' as const)
      : ('adjustment' as const);

const SOURCE_OF: Readonly<Record<TimelineKind, SourceName>> = {
  commission: 'commissions',
  adjustment: 'commissions',
  return: 'commissions',
  refund: 'refunds',
  payout: 'payouts',
  change: 'changes',
};

/** The position in a source: loaded entries that are not shown yet, and the cursor after them (null = no more). */
interface SourcePosition {
  readonly entries: readonly TimelineEntry[];
  readonly after: string | null | undefined;
}
type Position = ReadonlyMap<SourceName, SourcePosition>;

interface TimelinePage {
  readonly shown: readonly TimelineEntry[];
  /** null = nothing more. */
  readonly next: Position | null;
}

const isEmpty = ({ entries, after }: SourcePosition) => entries.length === 0 && after === null;
const mustBeRead = ({ entries, after }: SourcePosition) => entries.length === 0 && after !== null;

/** The next entries after a position, newest first. Stops where a source that is not loaded may have a newer one. */
async function mergeFrom(
  affiliate: number,
  kind: TimelineKind | undefined,
  start: Position,
  signal: AbortSignal,
): Promise<TimelinePage> {
  const position = new Map(start);
  const shown: TimelineEntry[] = [];
  const sources = () => [...position.values()];
  while (shown.length < SOME && !sources().every(isEmpty)) {
    await Promise.all(
      [...position].map(async ([name, source]) => {
        if (!mustBeRead(source)) return;
        const { entries, next } = await SOURCES[name](affiliate, source.after ?? undefined, signal);
        const wanted = entries.filter((entry) => kind === undefined || entry.kind === kind);
        position.set(name, { entries: wanted, after: next });
      }),
    );
    while (!sources().some(mustBeRead)) {
      const heads = [...position].flatMap(
        ([
          name,
          {
            entries: [first],
          },
        ]) => (first ? [{ name, first }] : []),
      );
      const newest = heads.sort((one, other) => (one.first.at < other.first.at ? 1 : -1))[0];
      if (newest === undefined) break;
      shown.push(newest.first);
      const { entries = [], after = null } = position.get(newest.name) ?? {};
      position.set(newest.name, { entries: entries.slice(1), after });
    }
  }
  return { shown, next: sources().every(isEmpty) ? null : position };
}

/**
 * A hook: the timeline of an affiliate, newest first, older entries on demand; `hasChanges` requires access to the
 * audit log.
 */
export function useTimeline(affiliate: number, kind: TimelineKind | undefined, hasChanges: boolean) {
  const sources = kind === undefined ? (Object.keys(SOURCES) as SourceName[]) : [SOURCE_OF[kind]];
  const start: Position = new Map(
    sources
      .filter((name) => hasChanges || name !== 'changes')
      .map((name) => [name, { entries: [], after: undefined }]),
  );
  return useInfiniteQuery<TimelinePage, ApiError, { pages: TimelinePage[] }, readonly unknown[], Position>({
    queryKey: ['timeline', affiliate, kind, hasChanges],
    initialPageParam: start,
    queryFn: ({ pageParam, signal }) => mergeFrom(affiliate, kind, pageParam, signal),
    getNextPageParam: ({ next }) => next,
  });
}
