import { type Static, Type } from 'typebox';
import { SCOPES } from '../../contract/route.ts';
import { currencyCode, nullable, role, strict } from '../../contract/schemas.ts';

const accountId = Type.String({ examples: ['acc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] });

/** Who asks. */
export const me = strict(
  {
    object: Type.Literal('me'),
    kind: Type.Enum(['key', 'user', 'application', 'operator'], {
      title: 'ActorKind',
      description: 'operator: the command line on the machine of the server',
    }),
    id: Type.String({
      description: 'of the key, the user or the application',
      examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
    }),
    name: nullable(Type.String()),
    email: nullable(Type.String({ description: 'of a user' })),
    role,
    scopes: Type.Array(Type.Enum(Object.keys(SCOPES))),
    has_full_access: Type.Boolean({
      description: 'whether it may use operations that need an API key or an owner',
    }),
    session_id: nullable(Type.String({ description: 'of a user who is signed in' })),
    csrf_token: nullable(
      Type.String({ description: 'the token that every write with this session sends as `Payhook-CSRF`' }),
    ),
    account: strict({
      id: accountId,
      name: Type.String(),
      default_currency: currencyCode,
      time_zone: Type.String({ description: 'IANA name', examples: ['Europe/Berlin'] }),
    }),
    accounts: Type.Array(strict({ id: accountId, name: Type.String(), role, is_current: Type.Boolean() }), {
      description:
        'the accounts a user is a member of, the last used first; for a key or token its one account',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof me>;
