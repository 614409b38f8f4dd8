import type { ListQuery } from '../contract/lists.ts';

/** The `Link` header (RFC 8288) of a page: first, prev, next, last with the same query; with a cursor only first. */
export function linkHeader(url: URL, list: ListQuery, total: bigint): string {
  const page = BigInt(list.page);
  const last = total === 0n ? 1n : (total + BigInt(list.perPage) - 1n) / BigInt(list.perPage);
  const to = (target: bigint, relation: string) => {
    const link = new URL(url);
    link.searchParams.delete('after');
    link.searchParams.set('page', String(target));
    return `<${link.href}>; rel="${relation}"`;
  };
  const links = [to(1n, 'first')];
  if (list.after !== null) return links.join();
  if (page > 1n) links.push(to(page - 1n < last ? page - 1n : last, 'prev'));
  if (page < last) links.push(to(page + 1n, 'next'));
  links.push(to(last, 'last'));
  return links.join(', ');
}
