import { beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  csv,
  expectRefusal,
  type Json,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';
import { type Case, LISTS, REFUSED, SHEETS, type Sheet } from './result-table.ts';

const world = useWorld();
let api: Api;
let payout: Json;
let messageId = '';
let ids: number[];

const most = Math.max(...SHEETS.map(({ cases }) => cases.length));
const AMOUNT = 5000;

beforeAll(async () => {
  api = await world.otherAccount();
  expect(
    (await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } })).status,
  ).toBe(200);
  const people = Array.from(
    { length: most },
    (_, index) => `a${index}@example.com,Ada,DE89370400440532013000`,
  );
  const made = await api.upload(`${AFFILIATES}/import`, csv('email,account_holder,iban', ...people));
  expect(made.body, made.text).toMatchObject({ created: most });
  ids = (await allOf(api, `${AFFILIATES}?sort=id`)).map(({ id }) => id);
  const commissions = ids.map((affiliate_id) => ({
    external_id: `order-${affiliate_id}`,
    affiliate_id,
    amount: AMOUNT,
    currency: 'eur',
  }));
  const taken = await api.post(`${AFFILIATES}/commissions/batch`, { commissions });
  expect(taken.status, taken.text).toBe(200);
  payout = await makePayout(api);
  const sent = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  [, messageId = ''] = /<MsgId>(.*?)</.exec(sent.text) ?? [];
});

const referenceOf = (affiliate: number) => `P${payout.number}-A${affiliate}`;

/** A text of the table about this affiliate. */
const filled = (text: string, affiliate: number, serial: number): string => {
  const reference = referenceOf(affiliate);
  return text
    .replaceAll('{ref:lower}', reference.toLowerCase())
    .replaceAll('{ref:old}', `${payout.number}-${affiliate}`)
    .replaceAll('{ref:text}', `Affiliate payout ${payout.number} ${reference}`)
    .replaceAll('{ref:upper}', `AFFILIATE PAYOUT ${payout.number} ${reference}`)
    .replaceAll('{ref:rest}', `${payout.number} ${reference}`)
    .replaceAll('{ref}', reference)
    .replaceAll('{affiliate}', String(affiliate))
    .replaceAll('{id}', `T${serial}`);
};

const send = (file: string | Buffer, query = '') =>
  api.request('POST', `${PAYOUTS}/${payout.id}/results${query}`, {
    body: file as string,
    headers: { 'content-type': 'application/octet-stream' },
  });

const OUTCOMES = ['paid', 'rejected', 'returned', 'pending'];

/** The result of a case: its line and its problems. */
function judged(
  proposal: Json,
  affiliate: number,
): { outcome: string | null; about: Json[]; mentioned: Json[] } {
  const line = proposal.lines.find(({ affiliate_id }: Json) => affiliate_id === affiliate);
  const about = proposal.problems.filter(({ affiliate_id }: Json) => affiliate_id === affiliate);
  const mentioned = proposal.problems.filter(({ reference }: Json) => reference === referenceOf(affiliate));
  return { outcome: line?.outcome ?? null, about, mentioned };
}

function expectVerdict(proposal: Json, { verdict, name }: Case, affiliate: number): void {
  const { outcome, about, mentioned } = judged(proposal, affiliate);
  const seen = JSON.stringify({ name, outcome, about, mentioned });
  if (OUTCOMES.includes(verdict)) {
    expect(outcome, seen).toBe(verdict);
    expect(about, seen).toEqual([]);
    return;
  }
  expect(outcome, seen).toBeNull();
  if (verdict === 'nothing') expect(mentioned, seen).toEqual([]);
  else if (verdict === 'mentioned')
    expect(
      mentioned.map(({ kind }) => kind),
      seen,
    ).toEqual(['inexact_reference']);
  else
    expect(
      about.map(({ kind }) => kind),
      seen,
    ).toEqual([verdict]);
}

test('the table has at least 150 cases', () => {
  expect(SHEETS.flatMap(({ cases }) => cases).length + REFUSED.length).toBeGreaterThanOrEqual(150);
});

describe.each(SHEETS.map((sheet): [string, Sheet] => [sheet.name, sheet]))(
  '%s',
  (_, { kind, file, cases }) => {
    let proposal: Json;
    beforeAll(async () => {
      const lines = cases.flatMap((each, index) =>
        each.lines.map((line) => filled(line, ids[index] ?? 0, index)),
      );
      const answer = await send(String(file(lines)).replaceAll('{message}', messageId));
      expect(answer.status, answer.text).toBe(201);
      proposal = answer.body;
    });

    test('gives its expected outcome, and every problem names its place', () => {
      expect(proposal.kind).toBe(kind);
      for (const { message } of proposal.problems) expect(message).toMatch(/^(line|entry|transaction) \d+/);
      expect(proposal.counts.unanswered).toBe(most - proposal.lines.length);
    });

    test.each(cases.map((each, index): [string, Case, number] => [each.name, each, index]))(
      '%s',
      (_name, each, index) => {
        expectVerdict(proposal, each, ids[index] ?? 0);
      },
    );
  },
);

test.each(REFUSED)('%s is refused by name', async (_, file, message) => {
  await nothingChanges(world, async () => {
    expectRefusal(await send(filled(file, ids[0] ?? 0, 0)), 400, 'invalid_file', message);
  });
});

test.each(LISTS)('a list with %s marks an affiliate as paid', async (_, file, query) => {
  const answer = await send(filled(file, ids[0] ?? 0, 0), query);
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body.kind).toBe('paid_list');
  expect(
    answer.body.lines.map(({ affiliate_id, outcome, amount }: Json) => [affiliate_id, outcome, amount]),
  ).toEqual([[ids[0], 'paid', AMOUNT]]);
});

test('all unknown columns are named at once', async () => {
  const file = 'reference,internal note,Ergebnis,who\n{ref},-,abgelehnt,Ada\n';
  const message =
    'line 1, columns 2, 3, 4: there are no columns "internal note", "Ergebnis", "who": without is_paid everybody in a list was paid';
  expectRefusal(await send(filled(file, ids[0] ?? 0, 0)), 400, 'invalid_file', message);
});

test.each([
  ['in another script', 'reference,σχόλιο,αποτέλεσμα\n{ref},-,απορρίφθηκε\n', 'σχόλιο', '"αποτέλεσμα"'],
  ['with a number', 'reference,note,note 2\n{ref},-,not paid\n', 'note', '"note 2"'],
])('ignoring a column %s ignores no other', async (_, file, column, message) => {
  const query = `?ignore_columns=${encodeURIComponent(column)}`;
  expectRefusal(await send(filled(file, ids[0] ?? 0, 0), query), 400, 'invalid_file', message);
});

test.each([
  ['a known column', 'reference,is_paid\n{ref},false\n', 'is_paid', 'is_paid'],
  ['an unknown column', 'reference\n{ref}\n', 'note', '"note"'],
  [
    'any of PayPal',
    'Transaction ID,Amount,Currency,Unique ID,Status\nT,50.00,EUR,{ref},Denied\n',
    'Status',
    'list of your own',
  ],
])('ignore_columns does not accept %s', async (_, file, column, message) => {
  const answer = await send(filled(file, ids[0] ?? 0, 0), `?ignore_columns=${column}`);
  expectRefusal(answer, 400, 'invalid_file', message);
});
