import type { Page } from './api.ts';

/**
 * A list that has not been requested yet. Awaited, it is one page:
 *
 *     const { data, pagination } = await payhook.payouts.list({ status: 'paid', per_page: 20 });
 *
 * Iterated, it is every record from that page on, 100 per request unless `per_page` says otherwise:
 *
 *     for await (const affiliate of payhook.affiliates.list()) …
 *
 * Each page starts after the last record of the previous one, so that records added or deleted meanwhile cause neither
 * repeats nor gaps. Without `sort`, iteration is by `id`, ascending: every record that exists from start to finish is
 * returned once, and new records come at the end. (A transaction that is still open when the loop starts, such as a
 * long import, may add records before the current position; they are then missed. So may be a record whose position
 * in another order changes.)
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

/** A list over a function that loads pages. Nothing is loaded before the list is awaited or iterated. */
export function listRequest<Item>(source: ListSource<Item>): ListRequest<Item> {
  let requested: Promise<Page<Item>> | undefined;
  const page = () => {
    requested ??= source.load(source.query);
    return requested;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise whose request is sent when it is awaited
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
