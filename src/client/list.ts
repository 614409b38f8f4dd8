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
 * Each page is asked for behind the last record of the one before, so that records that come or go meanwhile neither repeat
 * nor hide others. Without `sort`, iterating goes by `id`, ascending: every record that is there from the beginning to the
 * end is given once, and what comes in meanwhile lands at the end. (What is being stored when the loop begins, such as a
 * long import, may land before the place that has been reached, and is then not given; and so may a record whose place in
 * another order changes.)
 */
export interface ListRequest<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

interface PageChoice {
  readonly page?: number | undefined;
  readonly after?: string | undefined;
  readonly per_page?: number | undefined;
  readonly sort?: string | undefined;
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
  const { page, after, per_page = ITERATED_PER_PAGE, sort = after === undefined ? order : undefined } = query;
  const chosen = sort === undefined ? {} : { sort };
  let place: PageChoice = after === undefined ? { page: page ?? 1 } : { after };
  for (;;) {
    const { data, pagination } = await load({ ...query, page: undefined, ...place, per_page, ...chosen });
    yield* data;
    if (!pagination.next) return;
    place = { after: pagination.next };
  }
}
