import { Type } from 'typebox';
import { ok, readRoute, SCOPES } from '../../contract/route.ts';
import { currencyCode, nullable, role, strict } from '../../contract/schemas.ts';
import { describeCaller } from './service.ts';

const accountId = Type.String({ examples: ['acc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] });

const me = strict(
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

export const get = readRoute({
  operation: 'getMe',
  path: '/v2/me',
  access: 'any',
  summary: 'Get who asks',
  description:
    'The credential of the request: who it is, what it may do, and in which account. A page of this server that calls ' +
    'the API with the session of its user reads the CSRF token here; pages of other origins cannot read the answer.',
  returns: { 200: me },
  unkept: true,
  handle: async ({ db, principal }) => ok(await describeCaller(db, principal)),
});
