import type { Page } from './api.ts';

/**
 * A list, not asked for yet. Awaited, it is one page:
 *
 *     const { data, pagination } = await payhook.payouts.list({ status: 'paid', per_page: 20 });
 *
 * Iterated, it is every record from that page on, 100 a request unless `per_page` says otherwise:
 *
 *     for await (const affiliate of payhook.affiliates.list()) …
 *
 * Without `sort`, iterating goes by `id`, ascending: every record that is there from the beginning to the end is given
 * once, and what comes in meanwhile lands at the end. (What is being stored when the loop begins, such as a long import,
 * may land before the place that has been reached, and is then not given.) With another order a record that comes in can
 * move others back, and one is given twice.
 * Pages are counted off: a record that leaves the list meanwhile moves those after it forward, and one of them can be
 * skipped. That happens with a filter by something that changes: `status: 'unpaid'` while a payout is made, or when the
 * loop itself voids what it is given. Then collect the ids first, or ask for the first page until it is empty.
 */
export interface ListRequest<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

interface PageChoice {
  readonly page?: number;
  readonly per_page?: number;
  readonly sort?: string;
}

interface ListSource<Item> {
  readonly query: PageChoice;
  /** The order in which new records come last. */
  readonly order: string;
  load(query: PageChoice): Promise<Page<Item>>;
}

const ITERATED_PER_PAGE = 100;

/** Makes a list of what loads its pages. Nothing is loaded before it is awaited or iterated. */
export function listRequest<Item>(source: ListSource<Item>): ListRequest<Item> {
  let asked: Promise<Page<Item>> | undefined;
  const page = () => {
    asked ??= source.load(source.query);
    return asked;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise, of a request that is sent when somebody waits for it
    then: (onPage, onError) => page().then(onPage, onError),
    catch: (onError) => page().catch(onError),
    finally: (onEnd) => page().finally(onEnd),
    [Symbol.toStringTag]: 'ListRequest',
    [Symbol.asyncIterator]: () => everyRecord(source),
  };
}

async function* everyRecord<Item>({ query, order, load }: ListSource<Item>): AsyncGenerator<Item, undefined> {
  const { page: first = 1, per_page = ITERATED_PER_PAGE, sort = order } = query;
  let last: Item | undefined;
  for (let page = first; ; page += 1) {
    const { data, pagination } = await load({ ...query, page, per_page, sort });
    for (const record of data) {
      // a record stored behind this place has moved the pages: what was given already comes again
      if (sort === 'id' && last !== undefined && !isAfter(record, last)) continue;
      last = record;
      yield record;
    }
    if (page >= pagination.pages) return;
  }
}

/** Whether a record follows another by `id`; those of one list compare as numbers, or as texts of one length. */
function isAfter(record: unknown, last: unknown): boolean {
  const [one, other] = [keyOf(record), keyOf(last)];
  if (one.id === undefined || other.id === undefined) return true;
  return one.id > other.id || (one.id === other.id && one.part > other.part);
}

/** What a list by id is sorted by: an event has a record for each endpoint. */
function keyOf(record: unknown): { id: string | number | undefined; part: string } {
  const { id, webhook_endpoint_id: part = '' } = record as { id?: string; webhook_endpoint_id?: string };
  return { id, part };
}
