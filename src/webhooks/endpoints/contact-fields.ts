import { Type } from 'typebox';
import { email, nullable } from '../../contract/schemas.ts';
import { MAIL_IS_SENT } from '../../notices/notices.ts';

const status = Type.Enum(['off', 'none', 'unsent', 'waiting', 'expired', 'confirmed'], {
  title: 'ContactStatus',
  description:
    'off: nothing is sent, because the account has no `contact_notices` or the server sends no e-mail; none: there is no address; ' +
    'unsent: no link was sent yet; waiting: a link was sent; expired: it was not opened for 7 days; confirmed: the address gets e-mails',
});

/** Who is e-mailed about an endpoint, over `webhook_endpoints e`. */
export const contactFields = {
  contact_email: {
    schema: nullable(Type.String()),
    input: nullable(email),
    type: 'email',
    label: 'Contact',
    help: 'the e-mail address that is notified when the endpoint fails, is disabled or works again, once it was confirmed by a link',
    example: 'ops@shop.example.com',
    option: '--contact-email <email>',
    stored: null,
    isOfPortal: true,
  },
  contact_status: {
    schema: status,
    column: `case when (select o.contact_notices from accounts o where o.id = e.account_id) is null or not ${MAIL_IS_SENT} then 'off'
      when e.contact_email is null then 'none' when e.contact_confirmed_at is not null then 'confirmed'
      when e.contact_hash is null then 'unsent' when e.contact_expires_at <= now() then 'expired' else 'waiting' end`,
  },
} as const;
