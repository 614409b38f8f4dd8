import { expect, test } from 'vitest';
import { wordLabel } from '../../dashboard/texts/words.ts';
import {
  AFFILIATE_FIELDS,
  COMMISSION_FIELDS,
  DESTINATION_FIELDS,
  ENDPOINT_FIELDS,
  type FormField,
  type FormFields,
  REFUND_FIELDS,
  TAX_PROFILE_FIELDS,
} from '../../src/client/fields.ts';
import { fill, type Json, makeAffiliate, makeCommission, sampleBody, unique } from '../api/fixtures.ts';
import { someOf } from '../support/depth.ts';
import { examplesOf, type Field, fieldsOf, operationOf, RESOURCES, singly } from '../support/fields.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** Where the form of a record is, the button that opens it, if any, and the one that saves it. */
interface Form {
  readonly fields: FormFields;
  readonly path: string;
  readonly opens?: string;
  readonly saves: string;
}

const destination = {
  fields: DESTINATION_FIELDS,
  path: '/affiliates/{affiliate_id}',
  opens: 'Set destination',
  saves: 'Set destination',
};
const FORMS: Readonly<Record<string, Form>> = {
  affiliates: { fields: AFFILIATE_FIELDS, path: '/affiliates/{id}', opens: 'Edit', saves: 'Save changes' },
  'destinations of type sepa': destination,
  'destinations of type ach': destination,
  'tax profiles': {
    fields: TAX_PROFILE_FIELDS,
    path: '/affiliates/{affiliate_id}',
    opens: 'Set tax profile',
    saves: 'Save tax profile',
  },
  'webhook endpoints': {
    fields: ENDPOINT_FIELDS,
    path: '/webhooks/{id}?view=settings',
    saves: 'Save endpoint',
  },
};

/** The dashboard has no form for these: the server or the shop sets them. A page shows every field. */
const PAGES: Readonly<Record<string, Pick<Form, 'fields' | 'path'>>> = {
  commissions: { fields: COMMISSION_FIELDS, path: '/commissions?open={id}' },
  'refunds of the lines of an order': { fields: REFUND_FIELDS, path: '/commissions/refunds' },
};

inChromium('the forms of the dashboard', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test.each(someOf(Object.entries(FORMS), 2))(
    'the form of %s has an input for every field, and the page shows them',
    async (name, { fields: forms, path, opens, saves }) => {
      const resource = RESOURCES[name] ?? { create: '' };
      const { create, change, withoutInput = [], shown = {}, recordIn = (body: Json) => body } = resource;
      const values = examplesOf(fieldsOf(create), resource);
      const fields = singly(
        fieldsOf(change ?? create).flatMap((field) =>
          field.name in values && !withoutInput.includes(field.name)
            ? [{ ...field, example: values[field.name] }]
            : [],
        ),
        forms,
      ).filter((field) => {
        const { type, choices } = formOf(forms, field);
        // the form leaves out a field with one choice
        return type !== 'other' && choices?.length !== 1;
      });
      const operation = operationOf(create);
      const found = (await resource.prepare?.(api)) ?? {};
      const body = { ...sampleBody(operation), ...resource.least };
      const made = change ? (await api.post(operation.path, body)).body : found;
      const visitor = await atDashboard(chromium, world, { api, path: fill(path, made) });
      const { page } = visitor;
      if (opens !== undefined) await page.getByRole('button', { name: opens, exact: true }).click();
      const form = opens === undefined ? page.getByRole('main') : page.getByRole('dialog');
      for (const field of fields) await enter(form, formOf(forms, field), field);
      const answer = page.waitForResponse((each) => ['PATCH', 'PUT'].includes(each.request().method()));
      await form.getByRole('button', { name: saves, exact: true }).click();
      expect((await answer).status()).toBe(200);
      const stored = recordIn((await api.get(fill(resource.read ?? `${operation.path}/{id}`, made))).body);
      for (const { name: field, example } of fields) {
        const [own = '', part] = field.split('.');
        if (own in shown) continue;
        expect(part === undefined ? stored[own] : stored[own][part], field).toEqual(example);
      }
      await page.reload();
      if (opens === undefined) {
        for (const field of fields) await expectValue(form, formOf(forms, field), field);
      } else {
        for (const field of fields.filter((each) => !((each.name.split('.')[0] ?? '') in shown)))
          await page
            .getByRole('main')
            .getByText(shownOf(formOf(forms, field), field))
            .first()
            .waitFor();
      }
      expectQuiet(visitor);
    },
  );

  test.each(someOf(Object.entries(PAGES), 1))(
    'the page of %s shows every field',
    async (name, { fields: forms, path }) => {
      const resource = RESOURCES[name] ?? { create: '' };
      const operation = operationOf(resource.create);
      const values = examplesOf(fieldsOf(resource.create), resource);
      const { id } = await makeAffiliate(api);
      if (name !== 'commissions')
        await makeCommission(api, id, { order_id: values.order_id, external_id: unique('line') });
      const found = (await resource.prepare?.(api)) ?? {};
      const made = (await api.post(operation.path, { ...values, ...found })).body;
      const { page } = await atDashboard(chromium, world, { api, path: fill(path, made) });
      await page.getByText(made.external_id).first().waitFor({ state: 'attached' });
      for (const details of await page.locator('summary').all()) await details.click();
      const text = await page.locator('body').innerText();
      const texts = fieldsOf(resource.create)
        .filter(({ name: field }) => ['text', 'id'].includes(forms[field]?.type ?? ''))
        .flatMap(({ name: field }) => (made[field] == null ? [] : [made[field]]));
      expect(texts.filter((each) => !text.includes(each))).toEqual([]);
      expect(texts).not.toEqual([]);
    },
  );
});

const formOf = (forms: FormFields, { name }: Field): FormField => {
  const form = forms[name];
  if (form === undefined) throw new Error(`${name} has no label: run npm run generate`);
  return form;
};

type Inputs = ReturnType<Page['getByRole']>;

const inputOf = (form: Inputs, { label, type }: FormField) =>
  form.getByLabel(type === 'amounts' ? `${label}, USD` : label, { exact: true });

/** Enters the example of a field in the form. */
async function enter(form: Inputs, field: FormField, { example }: Field): Promise<void> {
  const input = inputOf(form, field);
  if (field.choices || field.type === 'flag') await input.selectOption(String(example));
  else await input.fill(typedText(field.type, example));
}

const expectValue = async (form: Inputs, field: FormField, { name, example }: Field) => {
  const input = inputOf(form, field);
  await input.waitFor();
  expect(await input.inputValue(), name).toBe(typedText(field.type, example));
};

/** How a value is typed and, but for the words of an enumeration, shown. */
function typedText(type: string, value: Json): string {
  if (type === 'amounts') return (value.usd / 100).toFixed(2);
  if (type === 'metadata')
    return Object.entries(value)
      .map((pair) => pair.join('='))
      .join('\n');
  return String(value);
}

/** What the page must show of a field. */
function shownOf({ type, choices }: FormField, { name, example }: Field): string {
  const text = typedText(type, example);
  if (type === 'day')
    return new Date(text).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
  if (type === 'currency') return text.toUpperCase();
  return choices || type === 'flag' ? wordLabel(name, text) : text;
}
