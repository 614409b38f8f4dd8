import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

export const ACTORS = ['key', 'user', 'application', 'operator', 'portal'] as const;

/** What was done, and by whom. */
export const auditEntry = strict(
  {
    id: Type.String({ examples: ['aud_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('audit_entry'),
    actor: strict({
      kind: Type.Enum([...ACTORS], { title: 'ActorKind' }),
      id: Type.String(),
    }),
    user_id: nullable(Type.String({ description: 'who signed in, or on whose grant the application acted' })),
    action: Type.String({
      description:
        'the operation, named as in this description; openPortal is the use of a portal link; runPayoutSchedule is a schedule, on behalf of who last changed it; raiseUserRole is a changeUser that made a role higher; rotateSecretKey, ' +
        'abandonSecretKey and endCredentials (of payhook restore) are commands on the machine',
      examples: ['completePayout'],
    }),
    target: nullable(Type.String({ description: 'the id of the record it changed' })),
    request_id: Type.String({ description: 'identifies the request in the log of the server' }),
    created_at: timestamp,
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof auditEntry>;

/** Its columns, over `audit_log l`. */
export const record = columnsOf(auditEntry, {
  id: "public_id('aud', l.id)",
  object: "'audit_entry'",
  actor: "json_build_object('kind', l.actor_kind, 'id', l.actor_id)",
  user_id: "public_id('usr', l.user_id)",
  action: 'l.action',
  target: 'l.target',
  request_id: 'l.request_id',
  created_at: 'iso(id_time(l.id))',
});
