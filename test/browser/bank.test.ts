import { beforeEach, expect, test } from 'vitest';
import {
  AFFILIATES,
  completePayout,
  type Json,
  makeAffiliate,
  makeCommission,
  PAYOUTS,
} from '../api/fixtures.ts';
import { camt } from '../support/bank.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

const IBAN = 'DE89 3704 0044 0532 0130 00';

inChromium('paying to bank accounts', (chromium) => {
  const world = useWorld();
  let people: Json[];
  beforeEach(async () => {
    // the unpaid payout of the previous test is paid
    const rest = await world.api.post(PAYOUTS);
    if (rest.status === 201) await completePayout(world.api, rest.body);
    await world.api.patch('/v2/account', {
      hold_days: 0,
      debtor: { name: 'Müller & Söhne', iban: 'DE02120300000000202051' },
    });
    people = [];
    for (const [name, amount] of [
      ['Ada', 10_000],
      ['Ben', 2550],
      ['Cleo', 700],
    ] as const) {
      const affiliate = await makeAffiliate(world.api, { name_first: name, name_last: 'Okafor' });
      await makeCommission(world.api, affiliate.id, { amount, currency: 'eur' });
      if (name !== 'Ada') {
        const body = { type: 'sepa', account_holder: `${name} Okafor`, iban: 'DE89370400440532013000' };
        expect((await world.api.put(`${AFFILIATES}/${affiliate.id}/destination`, body)).status).toBe(200);
      }
      people.push(affiliate);
    }
  });

  const choose = (page: Page, text: string) =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name: 'answer.xml', mimeType: 'application/xml', buffer: Buffer.from(text) });

  test('a rule by which the bank may refuse a file is next to the file', async () => {
    const debtor = { name: 'Shop', iban: 'DE02120300000000202051', message: 'pain.001.001.03' };
    await world.api.patch('/v2/account', { debtor });
    const { body } = await world.api.post(PAYOUTS);
    const finance = await atDashboard(chromium, world, { path: `/payouts/${body.id}?step=files` });
    await finance.page.getByText('Your bank may refuse it').waitFor();
    await finance.page.getByText(/banks in Germany refuse pain\.001\.001\.03 .*\(2 affiliates\)/).waitFor();
    await expectAccessible(finance.page);
    await finance.page.goto(`${world.url}/settings/account`);
    await finance.page.getByLabel('Message version').selectOption('pain.001.001.09');
    await finance.page.getByLabel('Instant transfers').check();
    await finance.page.getByRole('button', { name: 'Save settings' }).click();
    await finance.page.getByText('Settings saved').waitFor();
    expect((await world.api.get('/v2/account')).body.debtor).toMatchObject({
      message: 'pain.001.001.09',
      is_instant: true,
    });
    expectQuiet(finance);
    await completePayout(world.api, body);
  });

  longRun.test.each(
    someOf(
      [
        ['wide', WIDE],
        ['on a phone', PHONE],
      ] as const,
      1,
    ),
  )("from the destination to the completion by the bank's response, %s", async (_, viewport) => {
    const [ada, ben, cleo] = people;
    const finance = await atDashboard(chromium, world, {
      role: 'owner',
      path: `/affiliates/${ada.id}`,
      viewport,
    });
    const { page } = finance;
    await page.getByRole('button', { name: 'Set destination' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('combobox', { name: 'Destination type' }).and(page.locator(':focus')).waitFor();
    await form.getByRole('combobox', { name: 'Destination type' }).selectOption('sepa');
    await form.getByLabel('Account holder').fill('Zoë Okafor');
    await form.getByLabel('IBAN').fill(IBAN.toLowerCase());
    await form.getByRole('button', { name: 'Set destination' }).click();
    await page
      .getByText(/^Affiliates (\d+, )+\d+ are paid to the same account/)
      .first()
      .waitFor();
    await page.getByText('Zoe Okafor').first().waitFor();

    await page.goto(`${world.url}/payouts/new`);
    await page.getByRole('button', { name: 'Create payout for 3 affiliates' }).click();
    await page.getByRole('heading', { level: 1, name: /^Payout #/ }).waitFor();
    const { body: payout } = await world.api.get(`${PAYOUTS}/current`);
    await page.goto(`${world.url}/payouts/${payout.id}?line=${ada.id}`);
    await page.getByRole('dialog', { name: 'Ada Okafor' }).getByText('SEPA').waitFor();
    await page.getByRole('dialog', { name: 'Ada Okafor' }).getByText('Account …3000').waitFor();
    await page.goto(`${world.url}/payouts/${payout.id}?step=files`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /Download/ }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/-sepa-eur\.xml$/);
    await page.getByText('Downloaded').first().waitFor();
    await page.getByText(/^Writes \d names? in characters that banks accept$/).click();
    await page.getByRole('listitem').filter({ hasText: 'Zoë Okafor: Zoe Okafor' }).waitFor();
    await expectAccessible(page);

    await page.goto(`${world.url}/payouts/${payout.id}?step=complete`);
    const reference = (who: Json) => `P${payout.number}-A${who.id}`;
    const statement = camt([
      { reference: reference(ada), amount: 10_000 },
      { reference: reference(ben), amount: 2550 },
      { reference: reference(ben), amount: 2550, returned: 'AC04' },
      { reference: reference(cleo), amount: 699 },
    ]);
    await page.getByRole('button', { name: 'Tick from a file' }).waitFor();
    await choose(page, statement.slice(0, -200));
    await page.getByText('is the file cut off?').waitFor();
    await choose(page, statement);
    await page.getByRole('heading', { name: 'Bank statement (camt.053)' }).waitFor();
    await page.getByText('1 line paid, 1 line without an answer').waitFor();
    await page.getByText('the account is closed').filter({ visible: true }).first().waitFor();
    await page.getByText('the amount is 6.99 EUR, but the line is 7.00 EUR').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: /^Complete payout #/ }).click();
    const question = page.getByRole('dialog', { name: /^Complete payout #/ });
    const act = question.getByRole('button', { name: /^Complete payout #/ });
    await question.getByText('The money may have been sent').waitFor();
    expect(await act.isDisabled()).toBe(true);
    await expectAccessible(page);
    await question.getByLabel('I know that it was not paid').check();
    await question.getByText('25.50 EUR is owed again').waitFor();
    await act.click();
    await page.getByText('Payout completed').waitFor();
    const { body: done } = await world.api.get(`${PAYOUTS}/${payout.id}`);
    const lines = done.affiliates.map((line: Json) => [
      line.affiliate_id,
      line.is_paid,
      line.payment_reference,
      line.returned_amount,
    ]);
    expect(lines).toEqual([
      [ada.id, true, 'BANK-1', 0],
      [ben.id, true, 'BANK-3', 2550],
      [cleo.id, false, null, 0],
    ]);

    // days later more money is returned
    await page.getByRole('button', { name: 'Read returned money from a file' }).waitFor();
    await choose(page, camt([{ reference: reference(ada), amount: 10_000, returned: 'MD07' }]));
    const record = page.getByRole('dialog', { name: 'Record returned money' });
    await record.getByText('the recipient has died').filter({ visible: true }).first().waitFor();
    await expectAccessible(page);
    await record.getByRole('button', { name: 'Record returned money' }).click();
    await page.getByText('Recorded that 1 payment came back').waitFor();
    const { data } = (await world.api.get(`${PAYOUTS}/${payout.id}/affiliates/${ada.id}/returned`)).body;
    expect(data).toMatchObject([{ amount: 10_000, reference: 'BANK-1' }]);
    expectQuiet(finance);
  });

  test.each(
    someOf(
      [
        ['on a phone', PHONE],
        ['wide', WIDE],
      ] as const,
      1,
    ),
  )('an affiliate in two files that differ is named, with the files, %s', async (_, viewport) => {
    await world.api.patch('/v2/account', {
      debtor: { name: 'Müller & Söhne', iban: 'DE02120300000000202051' },
    });
    const payout = await world.api.post(PAYOUTS, {
      filters: { affiliate_id: [people[1]?.id, people[2]?.id] },
    });
    expect(payout.status, payout.text).toBe(201);
    const files = `${PAYOUTS}/${payout.body.id}/payment-files`;
    expect((await world.api.get(`${files}/sepa`)).status).toBe(200);
    const path = `/payouts/${payout.body.id}?step=files`;
    const finance = await atDashboard(chromium, world, { path, viewport });
    const { page } = finance;
    await page.getByText('Downloaded').first().waitFor();
    const warning = page.getByText('2 affiliates are in several downloaded files that differ.');
    expect(await warning.count()).toBe(0);
    await world.api.patch('/v2/account', {
      debtor: { name: 'Müller & Söhne', iban: 'DE02120300000000202051', bic: 'BYLADEM1001' },
    });
    await page.reload();
    await page.getByText('The file is outdated: download it again').waitFor();
    await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /Download/ }).click(),
    ]);
    await warning.waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Ben Okafor' })
      .getByText('(replaced); SEPA')
      .waitFor();
    await expectAccessible(page);
    expectQuiet(finance);
    expect((await world.api.delete(`${PAYOUTS}/${payout.body.id}`)).status).toBe(204);
  });

  test.each(
    someOf(
      [
        ['on a phone', PHONE],
        ['wide', WIDE],
      ] as const,
      1,
    ),
  )('a list with unknown columns is read once the user marks those to ignore, %s', async (_, viewport) => {
    const [, ben, cleo] = people;
    const payout = await world.api.post(PAYOUTS, { filters: { affiliate_id: [ben?.id, cleo?.id] } });
    expect(payout.status, payout.text).toBe(201);
    const finance = await atDashboard(chromium, world, {
      path: `/payouts/${payout.body.id}?step=complete`,
      viewport,
    });
    const { page } = finance;
    const title = 'Do these columns say nothing about payments?';
    const ofBen = page.getByRole('checkbox', { name: 'Ben Okafor' });
    await ofBen.waitFor();
    await page.getByText('No payment file was downloaded, so “Tick all” has nothing to tick.').waitFor();
    const list = ['reference,Vermerk,internal note', `P${payout.body.number}-A${ben?.id},gut,fine`];
    await choose(page, 'name,age\nAda,7\n');
    await page.getByText('The file is of no supported kind').waitFor();
    expect(await page.getByRole('heading', { name: title }).count()).toBe(0);

    await choose(page, `${list.join('\n')}\n`);
    await page.getByText('there are no columns "Vermerk", "internal note"').waitFor();
    await page.getByRole('heading', { name: title }).waitFor();
    await expectAccessible(page);
    const field = page.getByLabel('Columns to ignore');
    const again = page.getByRole('button', { name: 'Read the list without them' });
    expect(await again.isDisabled()).toBe(true);
    await field.fill('internal note');
    await field.press('Enter');
    await page.getByText('there is no column "Vermerk"').waitFor();
    expect(await field.inputValue()).toBe('internal note');
    expect(await ofBen.isChecked()).toBe(false);

    await field.fill('Vermerk, internal note');
    await again.click();
    await page.getByRole('heading', { name: 'List of who was paid' }).waitFor();
    await page.getByText('1 line paid, 1 line without an answer').waitFor();
    expect(await page.getByRole('heading', { name: title }).count()).toBe(0);
    expect(await ofBen.isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: 'Cleo Okafor' }).isChecked()).toBe(false);
    await expectAccessible(page);
    expect((await world.api.get(`${PAYOUTS}/${payout.body.id}`)).body.status).toBe('unpaid');
    expectQuiet(finance);
    expect((await world.api.delete(`${PAYOUTS}/${payout.body.id}`)).status).toBe(204);
  });
});
