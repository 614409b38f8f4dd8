import { Type } from 'typebox';
import { AFFILIATE_NOTICE_KINDS, AFFILIATE_NOTICES, LANGUAGES } from './affiliate-kinds.ts';

/** A kind of notice to an affiliate. */
export const noticeKind = Type.Enum([...AFFILIATE_NOTICE_KINDS], {
  title: 'AffiliateNoticeKind',
  description: Object.entries(AFFILIATE_NOTICES)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('; '),
  examples: ['paid'],
});

/** The language of a notice. */
export const noticeLanguage = Type.Enum([...LANGUAGES], { title: 'NoticeLanguage' });
