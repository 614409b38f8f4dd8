import sql, { empty, type Sql } from 'sql-template-tag';
import type { AccountId } from '../kernel/ids.ts';

/** The part of the publishing statement that stores tags: CTEs over `event`, each followed by a comma. */
export type Tagging = Sql;

/** No event of the statement has tags. */
export const NO_TAGS: Tagging = empty;

/** Some events have `tags`, a column of the records: a JSON array of texts. */
export const WITH_TAGS: Tagging = sql`
        tagged as (
          insert into event_tags (account_id, event_id, tag)
          select distinct account_id, id, tag from event cross join lateral json_array_elements_text(tags::json) tag
          where not is_refused),`;

/** SQL: the ids of the account's events that have a tag. */
export const taggedEvents = (account: AccountId, tag: string): Sql =>
  sql`(select t.event_id from event_tags t where t.account_id = ${account} and t.tag = ${tag})`;
