import type { NoticeLanguage } from '../../../src/client/api.ts';
import { wordLabel } from '../../texts/words.ts';

const LANGUAGES: readonly NoticeLanguage[] = ['en', 'de', 'fr', 'es'];
/** The languages of e-mails to affiliates and contacts, to choose from. */
export const languages = LANGUAGES.map((value) => ({ value, label: wordLabel('language', value) }));
