import sql, { join, raw, type Sql } from 'sql-template-tag';
import { namesOf } from '../../contract/fields.ts';
import { AFFILIATE_FIELDS } from './fields.ts';

const SEARCHED = namesOf(AFFILIATE_FIELDS, (field) => 'isSearched' in field);
const text = raw(`concat_ws(chr(10), ${SEARCHED.map((name) => `lower(a.${name})`).join(', ')})`);

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
    return sql`${text} like ${pattern}`;
  });
  return sql`(${join(matches, ' and ')})`;
}
