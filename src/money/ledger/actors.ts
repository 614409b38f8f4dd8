import { Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import { ACTORS } from '../../people/audit/record.ts';

/** The author of a change, with a display name. */
export const actorRecord = strict({
  kind: Type.Enum([...ACTORS], { title: 'ActorKind' }),
  id: Type.String(),
  name: nullable(Type.String()),
});

/**
 * SQL for an actor's name, over a row `w` with `account_id`, `actor_kind` and `actor_id`. Null when the actor no longer
 * exists.
 */
export const actorName = `case w.actor_kind
  when 'user' then (select u.name from users u where u.account_id = w.account_id and public_id('usr', u.id) = w.actor_id)
  when 'key' then (select k.name from api_keys k where k.account_id = w.account_id and public_id('key', k.id) = w.actor_id)
  when 'application' then (select o.name from oauth_applications o where public_id('app', o.id) = w.actor_id) end`;
