import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { filter } from '../filters/record.ts';

/** The default and maximum lifetime of a link. */
export const USUAL_TTL_SECONDS = 300;
export const LONGEST_TTL_SECONDS = 86_400;

const fields = {
  id: Type.String({ examples: ['pl_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('portal_link'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint for which it was created' }),
  owner: nullable(
    Type.String({ description: 'the portal shows all endpoints of this owner; null = only this endpoint' }),
  ),
  read_only: Type.Boolean({
    description: 'the portal can change and send nothing, and shows no secrets',
  }),
  event_types: nullable(
    Type.Array(Type.String(), {
      description: 'the event types that portal users may subscribe to; null = all',
    }),
  ),
  filter: nullable({ ...filter, description: 'the filter of endpoints created in the portal; null = none' }),
  status: Type.Enum(['unused', 'open', 'ended', 'expired', 'revoked'], {
    title: 'PortalLinkStatus',
    description: 'open: its portal is open; ended: its portal has ended; expired: it was not opened in time',
  }),
  created_by: Type.String({ description: 'the id of the key or user that created it' }),
  expires_at: { ...timestamp, description: 'until when it can be opened' },
  used_at: nullable({ ...timestamp, description: 'when it was opened; a link opens once' }),
  ends_at: nullable({ ...timestamp, description: 'when the portal it opened ends' }),
  revoked_at: nullable(timestamp),
  created_at: timestamp,
};

/** The record of a portal link. */
export const portalLink = strict(fields, { title: 'PortalLink' });
export type PortalLink = Static<typeof portalLink>;

/** The status of a link, over `portal_links p`. */
export const statusOfLink = `case when p.revoked_at is not null then 'revoked'
    when p.used_at is not null then case when p.ends_at > now() then 'open' else 'ended' end
    when p.expires_at > now() then 'unused' else 'expired' end`;

/** Its columns, over `portal_links p`. */
export const record = columnsOf(portalLink, {
  id: "public_id('pl', p.id)",
  object: "'portal_link'",
  webhook_endpoint_id: "public_id('we', p.endpoint_id)",
  owner: 'case when p.is_of_owner then p.owner end',
  read_only: 'p.is_read_only',
  event_types: 'p.event_types',
  filter: 'p.filter',
  status: statusOfLink,
  created_by: 'p.created_by',
  expires_at: 'iso(p.expires_at)',
  used_at: 'iso(p.used_at)',
  ends_at: 'iso(p.ends_at)',
  revoked_at: 'iso(p.revoked_at)',
  created_at: 'iso(id_time(p.id))',
});

/** The record with the link itself, returned on creation. */
export const newPortalLink = strict(
  {
    ...fields,
    url: nullable(
      Type.String({
        description: 'opens the portal once; shown once; null when a stored response is replayed',
        examples: [
          'https://pay.example.com/portal?link=pl_0192f8e5c7a7b3e9d0192f8e5c7a7b3e#phpl_NotASecretNotASecretNotASecret',
        ],
      }),
    ),
  },
  { title: 'NewPortalLink' },
);
export type NewPortalLink = Static<typeof newPortalLink>;

/** The record with its new link. */
export const withUrl = (json: Json<PortalLink>, url: string): Json<NewPortalLink> =>
  extended(json, { url: toJson(url) });

/** The body for creating a link. */
export const portalLinkRequest = strict({
  all_of_owner: Type.Optional(
    Type.Boolean({
      description:
        'a portal for all endpoints with the `owner` of this one, in which endpoints can be created and deleted',
      default: false,
    }),
  ),
  read_only: Type.Optional(
    Type.Boolean({
      description: 'a portal that can change and send nothing, and shows no secrets',
      default: false,
    }),
  ),
  event_types: Type.Optional(
    nullable(
      Type.Array(text(100), {
        minItems: 1,
        maxItems: 100,
        description:
          'the event types that portal users may subscribe to; null = all; default: those of this endpoint',
      }),
    ),
  ),
  ttl_seconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: LONGEST_TTL_SECONDS,
      description: 'how long the link can be opened',
      default: USUAL_TTL_SECONDS,
    }),
  ),
});
export type PortalLinkRequest = Static<typeof portalLinkRequest>;
