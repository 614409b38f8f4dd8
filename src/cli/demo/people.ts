import type { CreateAffiliateBody } from '../../client/client.ts';
import type { Dice } from './dice.ts';

export type Currency = 'usd' | 'eur' | 'gbp' | 'jpy';

/** An affiliate of the demo. */
export interface Person {
  /** `external_id` of the affiliate. */
  readonly key: string;
  readonly input: CreateAffiliateBody;
  /** The currency of most of their sales. */
  readonly currency: Currency;
  /** Their share of the sales, as a weight. */
  readonly weight: number;
  /** Changes that the merchant makes after their first sales. */
  readonly later: { readonly status?: 'inactive'; readonly is_ready_for_payout?: false } | null;
}

/** First name, last name, slug, currency. */
const NAMES: readonly (readonly [string, string, string, Currency])[] = [
  ['Grace', 'Okafor', 'grace-okafor', 'usd'],
  ['Liam', "O'Brien", 'liam-obrien', 'eur'],
  ['由紀', '田中', 'yuki-tanaka', 'jpy'],
  ['Zoë', 'van der Berg', 'zoe-van-der-berg', 'eur'],
  ['Mateo', 'García Núñez', 'mateo-garcia', 'usd'],
  ['Jürgen', 'Müller', 'juergen-mueller', 'eur'],
  ['Aisha', 'Rahman', 'aisha-rahman', 'gbp'],
  ['Marcus', 'Bell', 'marcus-bell', 'usd'],
  ['芳', '王', 'wang-fang', 'usd'],
  ['Siobhán', "D'Arcy", 'siobhan-darcy', 'gbp'],
  ['Łukasz', 'Wójcik', 'lukasz-wojcik', 'eur'],
  ['Emily', 'Carter', 'emily-carter', 'usd'],
  ['Søren', 'Ågård', 'soeren-aagaard', 'eur'],
  ['Priya', 'Natarajan', 'priya-natarajan', 'usd'],
  ['Thảo', 'Nguyễn', 'thao-nguyen', 'usd'],
  ['Oliver', 'Whitfield', 'oliver-whitfield', 'gbp'],
  ['Jasmine', 'Brooks', 'jasmine-brooks', 'usd'],
  ['Ιωάννα', 'Παπαδοπούλου', 'ioanna-papadopoulou', 'eur'],
  ['Kwame', 'Mensah', 'kwame-mensah', 'usd'],
  ['健太', '佐藤', 'kenta-sato', 'jpy'],
  ['Chloé', 'Lefèvre', 'chloe-lefevre', 'eur'],
  ['Daniel', 'Rosenberg', 'daniel-rosenberg', 'usd'],
  ['Ана', 'Петровић', 'ana-petrovic', 'eur'],
  ['Tyler', 'Jackson', 'tyler-jackson', 'usd'],
  ['Isabella', 'Rossi', 'isabella-rossi', 'eur'],
  ['민준', '김', 'minjun-kim', 'usd'],
  ['Hannah', 'Goldberg', 'hannah-goldberg', 'usd'],
  ['Rhys', 'Llewellyn', 'rhys-llewellyn', 'gbp'],
  ['Camila', 'Souza', 'camila-souza', 'usd'],
  ['İpek', 'Yılmaz', 'ipek-yilmaz', 'usd'],
  ['Noah', 'Fitzgerald', 'noah-fitzgerald', 'usd'],
  ['Katarína', 'Nováková', 'katarina-novakova', 'eur'],
  ['Jamal', 'Washington', 'jamal-washington', 'usd'],
  ['Ingrid', 'Sørensen-Lie', 'ingrid-sorensen-lie', 'usd'],
  ['Arjun', 'Mehta', 'arjun-mehta', 'usd'],
  ['Maria', 'dos Santos', 'maria-dos-santos', 'usd'],
  ['Ethan', 'McAllister', 'ethan-mcallister', 'usd'],
  ['美咲', '鈴木', 'misaki-suzuki', 'jpy'],
  ['Fatou', 'Diallo', 'fatou-diallo', 'eur'],
  ['Lucas', 'Andersson', 'lucas-andersson', 'usd'],
  ['Abigail', 'Thornton', 'abigail-thornton', 'gbp'],
  ['Дмитро', 'Шевченко', 'dmytro-shevchenko', 'usd'],
  ['Sofía', 'Hernández', 'sofia-hernandez', 'usd'],
  ['Björn', 'Þórsson', 'bjoern-thorsson', 'usd'],
  ['Naomi', 'Adler', 'naomi-adler', 'usd'],
  ['Chidi', 'Anyaoku', 'chidi-anyaoku', 'usd'],
  ['Léa', 'Dubois', 'lea-dubois', 'eur'],
  ['Samuel', 'Ortiz', 'samuel-ortiz', 'usd'],
  ['伟', '陈', 'chen-wei', 'usd'],
  ['Freya', 'Hughes', 'freya-hughes', 'gbp'],
  ['Miguel', 'Ángel Ruiz', 'miguel-angel-ruiz', 'eur'],
  ['Ava', 'Sullivan', 'ava-sullivan', 'usd'],
  ['Omar', 'El-Masry', 'omar-el-masry', 'usd'],
  ['Julia', 'Weiß', 'julia-weiss', 'eur'],
  ['Rebecca', 'Stone', 'rebecca-stone', 'usd'],
  ['Ravi', 'Kumar', 'ravi-kumar', 'usd'],
  ['Nora', 'Häkkinen', 'nora-haekkinen', 'eur'],
  ['Isaac', 'Nkosi', 'isaac-nkosi', 'usd'],
  ['Elena', 'Popescu', 'elena-popescu', 'usd'],
  ['Theo', 'Blackwood', 'theo-blackwood', 'gbp'],
];

// Reserved domains without mailboxes (RFC 2606 section 3).
const DOMAINS = ['example.com', 'example.org', 'example.net'];
const METHODS = [
  'paypal',
  'wise',
  'paypal',
  'paypal',
  'wise',
  'paypal',
  'other',
  'wise',
  'paypal',
  null,
] as const;
const MINIMUMS = { usd: 25_000, eur: 20_000, gbp: 20_000, jpy: 30_000 };

/** The affiliates of the demo. The people are always the same; their sales depend on the dice. */
export function demoPeople(dice: Dice): Person[] {
  const ranks = dice.shuffled(NAMES.map((_, index) => index));
  return NAMES.map(([first, last, slug, currency], index) => {
    const method = METHODS[index % METHODS.length] ?? null;
    const email = `${slug}@${DOMAINS[index % DOMAINS.length]}`;
    const minimum = index % 17 === 3 ? { minimum_payout: { [currency]: MINIMUMS[currency] } } : {};
    return {
      key: `partner-${101 + index}`,
      input: {
        external_id: `partner-${101 + index}`,
        email,
        name_first: first,
        name_last: last,
        slug,
        payout_method: method,
        paypal_email: method === 'paypal' ? (index % 4 === 0 ? `pay.${email}` : email) : null,
        ...minimum,
      },
      currency,
      weight: (currency === 'jpy' ? 0.4 : 1) / (6 + (ranks[index] ?? 0)),
      later: laterOf(index),
    };
  });
}

function laterOf(index: number): Person['later'] {
  if (index % 23 === 7) return { status: 'inactive' };
  return index % 13 === 5 ? { is_ready_for_payout: false } : null;
}
