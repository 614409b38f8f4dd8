import { type Static, Type } from 'typebox';
import { ALL_CAPABILITIES, CAPABILITIES } from '../../contract/roles.ts';
import { currencyCode, nullable, role, strict, timestamp } from '../../contract/schemas.ts';
import { SCOPES } from '../../contract/scopes.ts';
import { ACTORS } from '../audit/record.ts';

const accountId = Type.String({ examples: ['acc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] });

/** Who asks. */
export const me = strict(
  {
    object: Type.Literal('me'),
    kind: Type.Enum([...ACTORS], {
      title: 'ActorKind',
      description:
        'operator: the command line on the machine of the server; portal: who opened a portal link',
    }),
    id: Type.String({
      description: 'of the key, the user, the application or the portal link',
      examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
    }),
    name: nullable(Type.String()),
    email: nullable(Type.String({ description: 'of a user' })),
    role,
    scopes: Type.Array(Type.Enum(Object.keys(SCOPES))),
    capabilities: Type.Array(
      Type.Enum(ALL_CAPABILITIES, {
        title: 'Capability',
        description: ALL_CAPABILITIES.map((name) => `${name}: may ${CAPABILITIES[name]}`).join('; '),
      }),
      { description: 'what it may do; each operation names the one that it needs as `x-capability`' },
    ),
    has_full_access: Type.Boolean({
      description: 'whether it may use operations that need an API key or an owner',
    }),
    session_id: nullable(Type.String({ description: 'of a user who is signed in' })),
    csrf_token: nullable(
      Type.String({ description: 'the token that every write with this session sends as `Payhook-CSRF`' }),
    ),
    portal: nullable(
      strict(
        {
          webhook_endpoint_id: Type.String({ description: 'the endpoint its link was made at' }),
          owner: nullable(
            Type.String({ description: 'it is of all endpoints of this owner; null = of the one alone' }),
          ),
          event_types: nullable(
            Type.Array(Type.String(), { description: 'what endpoints may be subscribed to; null = all' }),
          ),
          ends_at: timestamp,
        },
        { title: 'Portal', description: 'what a portal is of; null for every other caller' },
      ),
    ),
    account: strict({
      id: accountId,
      name: Type.String(),
      is_demo: Type.Boolean({ description: 'whether it has example data, and may be deleted' }),
      default_currency: currencyCode,
      time_zone: Type.String({ description: 'IANA name', examples: ['Europe/Berlin'] }),
    }),
    accounts: Type.Array(
      strict({
        id: accountId,
        name: Type.String(),
        role,
        is_current: Type.Boolean(),
        is_demo: Type.Boolean(),
      }),
      {
        description:
          'the accounts a user is a member of, the last used first; for a key or token its one account',
      },
    ),
    has_several_cells: Type.Boolean({
      description:
        'whether the installation has several cells: a user may then have accounts in others, which `/sign-in?another` leads to',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof me>;
