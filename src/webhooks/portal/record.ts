import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { filter } from '../filters/record.ts';

/** How long a link can be opened unless it says otherwise, and at most. */
export const USUAL_TTL_SECONDS = 300;
export const LONGEST_TTL_SECONDS = 86_400;

const fields = {
  id: Type.String({ examples: ['pl_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('portal_link'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint it was made at' }),
  owner: nullable(
    Type.String({ description: 'the portal is of all endpoints of this owner; null = of the one alone' }),
  ),
  read_only: Type.Boolean({
    description: 'nothing can be changed or sent in the portal, and it shows no secret',
  }),
  event_types: nullable(
    Type.Array(Type.String(), {
      description: 'what endpoints may be subscribed to in the portal; null = all',
    }),
  ),
  filter: nullable({ ...filter, description: 'the filter of endpoints made in the portal; null = none' }),
  status: Type.Enum(['unused', 'open', 'ended', 'expired', 'revoked'], {
    title: 'PortalLinkStatus',
    description: 'open: its portal is; ended: it was; expired: nobody opened it in time',
  }),
  created_by: Type.String({ description: 'the id of the key or user that made it' }),
  expires_at: { ...timestamp, description: 'it can be opened before' },
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

/** The record with the link itself, as the response of its creation. */
export const newPortalLink = strict(
  {
    ...fields,
    url: nullable(
      Type.String({
        description: 'opens the portal once; shown once; null when a stored answer is replayed',
        examples: [
          'https://pay.example.com/portal?link=pl_0192f8e5c7a7b3e9d0192f8e5c7a7b3e#phpl_NotASecretNotASecretNotASecret',
        ],
      }),
    ),
  },
  { title: 'NewPortalLink' },
);
export type NewPortalLink = Static<typeof newPortalLink>;

/** The record with the link that was just made. */
export const withUrl = (json: Json<PortalLink>, url: string): Json<NewPortalLink> =>
  extended(json, { url: toJson(url) });

/** What a link is for. */
export const portalLinkRequest = strict({
  all_of_owner: Type.Optional(
    Type.Boolean({
      description:
        'a portal of all endpoints that have the `owner` of this one; there, endpoints can be made and deleted',
      default: false,
    }),
  ),
  read_only: Type.Optional(
    Type.Boolean({
      description: 'a portal in which nothing is changed, sent or shown that is secret',
      default: false,
    }),
  ),
  event_types: Type.Optional(
    nullable(
      Type.Array(text(100), {
        minItems: 1,
        maxItems: 100,
        description: 'what endpoints may be subscribed to; null = all; default: what this one is',
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
