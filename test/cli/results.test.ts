import { beforeEach, expect, test } from 'vitest';
import {
  AFFILIATES,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from '../api/fixtures.ts';
import { achReturns } from '../support/ach-returns.ts';
import { camt, pain002, verification } from '../support/bank.ts';
import { type NachaPayment, paymentsIn } from '../support/nacha.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
let payout: Json;
let messageId: string;
let ids: number[];

beforeEach(async () => {
  await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
  ids = [];
  for (const amount of [1000, 2000, 3000]) {
    const { id } = await makeAffiliate(api);
    const body = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
    expect((await api.put(`${AFFILIATES}/${id}/destination`, body)).status).toBe(200);
    await makeCommission(api, id, { amount, currency: 'eur' });
    ids.push(id);
  }
  payout = await makePayout(api);
  const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expect(file.status, file.text).toBe(200);
  messageId = /<MsgId>(.*?)</.exec(file.text)?.[1] ?? '';
});

const write = (name: string, text: string) => machine.write(name, text);
const { run, runJson, runText } = commandsOf(world, api, machine);
const complete = (...args: string[]) => run('payouts', 'complete', '1', ...args, '--yes');
const results = ['payouts', 'results', '1'];
const linesNow = async (): Promise<Json> =>
  Object.fromEntries(
    (await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates.map((line: Json) => [
      line.affiliate_id,
      [line.is_paid, line.payment_reference, line.returned_amount],
    ]),
  );
const reference = (index: number) => `P1-A${ids[index]}`;

test('takes your own list that names payments by their reference', async () => {
  write('paid.csv', `reference,is_paid\n${reference(0)},true\n${reference(1)},false\n${reference(2)},true\n`);
  const ran = await complete('--from', 'paid.csv');
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const isPaid = Object.values(await linesNow()).map(([paid]: Json) => paid);
  expect(isPaid).toEqual([true, false, true]);
});

test('completes a payout by the responses of the bank, and books returned money', async () => {
  write(
    'camt.xml',
    camt([
      { reference: reference(0), amount: 1000 },
      { reference: reference(1), amount: 2000 },
      { reference: reference(1), amount: 2000, returned: 'AC04' },
    ]),
  );
  write(
    'status.xml',
    pain002(messageId, 'PART', [{ reference: reference(2), status: 'RJCT', reason: 'AC01' }]),
  );
  const ran = await complete('--from', 'camt.xml', '--from', 'status.xml');
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stderr).toContain('camt.xml (camt.053): 1 payment paid, 10.00 EUR');
  expect(ran.stderr).toContain('the account is closed');
  expect(ran.stderr).toContain('the account number is wrong');
  expect(await linesNow()).toEqual({
    [ids[0] ?? 0]: [true, 'BANK-1', 0],
    [ids[1] ?? 0]: [true, 'BANK-3', 2000],
    [ids[2] ?? 0]: [false, null, 0],
  });
  const again = await complete('--from', 'camt.xml');
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(again.stderr).toContain('There is nothing left to record');
  expect(again.stderr).toContain('the same file was read before');
});

test('a payout is not completed while the result of a line is unknown, until someone states it', async () => {
  write('camt.xml', camt([{ reference: reference(0), amount: 1000 }]));
  write('waiting.xml', pain002(messageId, null, [{ reference: reference(1), status: 'ACCP' }]));
  const files = ['--from', 'camt.xml', '--from', 'waiting.xml'];
  const refused = await complete(...files);
  expect(refused).toMatchObject({ code: 1, error: { reason: 'affiliates_missing' } });
  expect(refused.error?.message).toContain(
    `there is no result for affiliates ${ids[1]} in EUR, ${ids[2]} in EUR: they may have been paid`,
  );
  const one = await complete(...files, '--paid', String(ids[1]));
  expect(one.error?.message).toContain(`there is no result for affiliate ${ids[2]} in EUR: they may`);
  const twice = await complete(...files, '--unpaid', String(ids[0]));
  expect(twice.error?.message).toContain(`a result file already has a result for affiliate ${ids[0]}`);
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.status).toBe('unpaid');
  const done = await complete(...files, '--paid', String(ids[1]), '--unpaid', String(ids[2]));
  expect(done, done.stderr).toMatchObject({ code: 0 });
  expect(Object.values(await linesNow()).map(([isPaid]: Json) => isPaid)).toEqual([true, true, false]);
});

test('a later statement books returned money of a paid payout', async () => {
  const entries = ids.map((affiliate_id) => ({ affiliate_id, is_paid: true }));
  expect((await api.put(`${PAYOUTS}/${payout.id}`, { commissions: entries })).status).toBe(200);
  write('later.xml', camt([{ reference: reference(2), amount: 3000, returned: 'MD07' }]));
  const ran = await complete('--from', 'later.xml');
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect((await linesNow())[ids[2] ?? 0]).toEqual([true, null, 3000]);
  const { data } = (await api.get(`${PAYOUTS}/${payout.id}/affiliates/${ids[2]}/returned`)).body;
  expect(data).toMatchObject([{ reason: 'the recipient has died: see the bank', reference: 'BANK-1' }]);
});

test('files that contradict each other, and files of other payouts, complete nothing', async () => {
  write(
    'camt.xml',
    camt(ids.map((_, index) => ({ reference: reference(index), amount: 1000 * (index + 1) }))),
  );
  write('refused.xml', pain002(messageId, 'RJCT'));
  write('other.xml', camt([{ reference: 'P9-A1', amount: 5 }]));
  const both = await complete('--from', 'camt.xml', '--from', 'refused.xml');
  expect(both.error?.message).toContain('the files contradict each other');
  await nothingChanges(world, async () => {
    const other = await complete('--from', 'other.xml');
    expect(other).toMatchObject({ code: 1, error: { reason: 'result_of_another_payout' } });
  });
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.status).toBe('unpaid');
});

const paypal = (...lines: string[]) =>
  ['Type,Status,Currency,Gross,Transaction ID,Custom Number', ...lines, ''].join('\n');

test('shows the content of a file and changes nothing: returned money is never paid', async () => {
  write(
    'paypal-reversal.csv',
    paypal(
      `Mass Pay Reversal,Completed,EUR,10.00,T1,${reference(0)}`,
      `Website Payment,Completed,EUR,20.00,T2,${reference(1)}`,
      'Website Payment,Completed,EUR,7.00,T3,ORDER-9',
    ),
  );
  const shown = await runText(...results, 'paypal-reversal.csv');
  expect(shown).toContain(
    '(paypal): 0 payments paid; 0 rejected, 1 returned, 0 pending, 2 without an answer; 1 entry is not for this payout',
  );
  expect(shown).toMatch(/10\.00 EUR\s+returned\s+PayPal took it back/);
  expect(shown).toContain(`Look: ${reference(1)}, line 3: the type "Website Payment" with money in`);
  const json = await runJson(...results, 'paypal-reversal.csv');
  expect(json).toMatchObject({ object: 'payout_result', counts: { returned: 1, problems: 1, others: 1 } });
  expect(await runText(...results)).toMatch(/paypal\s+0\s+0\s+1\s+0\s+1/);
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.status).toBe('unpaid');
  write('list.csv', `reference,note\n${reference(0)},thanks\n`);
  const refused = await run(...results, 'list.csv');
  expect(refused.error?.message).toContain('there is no column "note"');
  const ignored = await runText(...results, 'list.csv', '--ignore-column', 'note');
  expect(ignored).toContain('(paid_list): 1 payment paid, 10.00 EUR');
  expect(await run(...results, '--ignore-column', 'note')).toMatchObject({ code: 2 });
  expect(await run(...results, 'list.csv', '--page', '2')).toMatchObject({ code: 2 });
});

test('owes nothing again while another file leaves open whether more money left', async () => {
  const wise = (status: string, id: string) =>
    `ID,Status,Direction,Target amount (after fees),Target currency,Reference\n${id},${status},OUT,10.00,EUR,${reference(0)}\n`;
  write('denied.csv', paypal(`Mass Pay Payment,Denied,EUR,-10.00,T1,${reference(0)}`));
  write('open.csv', wise('processing', 'TRANSFER-1'));
  write(
    'statement.csv',
    `TransferWise ID,Date,Amount,Currency,Payment Reference\nTRANSFER-2,30-09-2026,20.00,EUR,${reference(1)}\n`,
  );
  const files = ['--from', 'denied.csv', '--from', 'open.csv', '--from', 'statement.csv'];
  const both = await complete(...files, '--unpaid', String(ids[2]));
  expect(both.error?.message).toContain(
    `there is no result for affiliate ${ids[0]} in EUR: they may have been paid`,
  );
  expect(both.stderr).toContain(`the files leave open whether these affiliates were paid: ${ids[0]} in EUR`);
  const twice = await complete(
    '--from',
    'denied.csv',
    '--from',
    'denied.csv',
    '--unpaid',
    `${ids[1]},${ids[2]}`,
  );
  expect(twice, twice.stderr).toMatchObject({ code: 0 });
});

test('shows which names do not match before anybody approves, and uses the name that the bank gives', async () => {
  write(
    'vop.xml',
    verification(
      messageId,
      [
        { reference: reference(0), status: 'RVMC', text: 'Zoë Okafor-Lee' },
        { reference: reference(1), status: 'RVNM' },
      ],
      1,
    ),
  );
  const printed = await runText(...results, 'vop.xml');
  expect(printed).toContain('it says nothing about payments');
  expect(printed).toContain('1 match, 1 close match, 1 no match, 0 not possible');
  expect(printed).toMatch(/close match +Zoe Okafor +Zoë Okafor-Lee/);
  const shown = await runText('payouts', 'show', '1');
  expect(shown).toContain('by their banks, the names of 2 payees do not match the accounts');
  expect((await runJson('payouts', 'verifications', '1', '--mismatch')).data).toHaveLength(2);
  expect(await runText('payouts', 'verifications', '1')).toContain('3 verifications, page 1 of 1');
  const refused = await run('affiliates', 'destination', 'use-name', String(ids[1]), '--yes');
  expect(refused.stderr).toContain('the bank has given no name');
  const used = await runJson('affiliates', 'destination', 'use-name', String(ids[0]), '--yes');
  expect(used).toMatchObject({ account_holder: 'Zoë Okafor-Lee', verification: { result: 'name_used' } });
  expect(await runText('payouts', 'show', '1')).toContain('the names of 1 payee do not match');
});

test('books what a NACHA file returns, and shows what it corrects, until somebody decides', async () => {
  const originator = {
    immediate_destination: '021000021',
    immediate_destination_name: 'JPMorgan Chase',
    immediate_origin: '1234567890',
    immediate_origin_name: 'Difference Engines',
    company_name: 'Difference Engin',
    company_id: '1234567890',
  };
  expect((await api.patch('/v2/account', { originator })).status).toBe(200);
  const account = {
    type: 'ach',
    account_holder: 'Zoe Okafor',
    routing_number: '121042882',
    account_number: '000123456789',
    account_type: 'checking',
    currency: 'usd',
  };
  await api.delete(`${PAYOUTS}/${payout.id}`);
  for (const id of ids) {
    expect((await api.put(`${AFFILIATES}/${id}/destination`, account)).status).toBe(200);
    await makeCommission(api, id, { amount: 1000, currency: 'usd' });
  }
  const { number, id } = await makePayout(api);
  const sent = await api.get(`${PAYOUTS}/${id}/payment-files/nacha?currency=usd`);
  const [first, second] = paymentsIn(sent.text) as [NachaPayment, NachaPayment];
  write(
    'returns.ach',
    achReturns([
      { payment: first, code: 'R02' },
      { payment: second, code: 'C02', data: '021000021' },
    ]),
  );
  const printed = await runText('payouts', 'results', String(number), 'returns.ach');
  expect(printed).toContain('(nacha): 0 payments paid; 0 rejected, 1 returned');
  expect(printed).toMatch(/returned +the account is closed/);
  expect(printed).toContain('Banks corrected where 1 affiliate is paid');
  expect(printed).toContain('routing number 121042882 → 021000021');
  const { data } = await runJson('affiliates', 'corrections', 'list', '--status', 'open');
  expect(data).toMatchObject([{ affiliate_id: ids[1], code: 'C02' }]);
  const ofOther = ['affiliates', 'corrections', 'list', '--affiliate', String(ids[0])];
  expect((await runJson(...ofOther)).data).toEqual([]);
  const accepted = await runText('affiliates', 'corrections', 'accept', data[0].id, '--yes');
  expect(accepted).toMatch(/accepted/);
  const refused = await run('affiliates', 'corrections', 'dismiss', data[0].id, '--yes');
  expect(refused.stderr).toContain('accepted before');
  const now = await runJson('affiliates', 'destination', 'show', String(ids[1]));
  expect(now.destinations.at(-1)).toMatchObject({ currency: 'usd', routing_number: '021000021' });
});
