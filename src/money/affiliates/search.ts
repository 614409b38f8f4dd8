import sql, { join, type Sql } from 'sql-template-tag';

/**
 * Whether an affiliate (alias `a`) matches a search: every word must be part of the first name, last name, e-mail, slug
 * or PayPal e-mail, ignoring case and Unicode composition; `%` and `_` are literal. null when there are no words.
 */
export function searchCondition(search: string): Sql | null {
  const words = search.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return null;
  const matches = words.map((word) => {
    const pattern = `%${word
      .normalize('NFC')
      .toLowerCase()
      .replaceAll(/[\\%_]/g, '\\$&')}%`;
    return sql`concat_ws(chr(10), lower(a.name_first), lower(a.name_last), lower(a.email), lower(a.slug),
      lower(a.paypal_email)) like ${pattern}`;
  });
  return sql`(${join(matches, ' and ')})`;
}
