import { expect, test } from 'vitest';
import { wordLabel } from '../../dashboard/texts/words.ts';
import { AFFILIATE_FIELDS, type FormFields } from '../../src/client/fields.ts';
import { type Json, sampleBody } from '../api/fixtures.ts';
import { type Field, fieldsOf, operationOf, RESOURCES } from '../support/fields.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** Where the form of a record is, and the button that opens it. */
const FORMS: Readonly<
  Record<string, { fields: FormFields; page: (record: Json) => string; button: string }>
> = {
  affiliates: { fields: AFFILIATE_FIELDS, page: ({ id }) => `/affiliates/${id}`, button: 'Edit' },
};

inChromium('the forms of the dashboard', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test.each(Object.entries(FORMS))(
    'the form of %s has an input for every field, and the page shows them',
    async (name, form) => {
      const { create, change = '', withoutInput = [] } = RESOURCES[name] ?? { create: '' };
      const fields = fieldsOf(change).filter((field) => !withoutInput.includes(field.name));
      const { path } = operationOf(create);
      const made = (await api.post(path, sampleBody(operationOf(create)))).body;
      const visitor = await atDashboard(chromium, world, { api, path: form.page(made) });
      const { page } = visitor;
      await page.getByRole('button', { name: form.button, exact: true }).click();
      for (const field of fields) await enter(page, form.fields, field);
      await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const stored = (await api.get(`${path}/${made.id}`)).body;
      for (const { name: field, example } of fields) expect(stored[field], field).toEqual(example);
      await page.reload();
      await page.getByRole('button', { name: form.button, exact: true }).waitFor();
      const shown = await page.getByRole('main').innerText();
      for (const field of fields) expect(shown).toContain(shownOf(form.fields, field));
      expectQuiet(visitor);
    },
  );
});

const formOf = (forms: FormFields, { name }: Field) => {
  const form = forms[name];
  if (form === undefined) throw new Error(`${name} has no label: run npm run generate`);
  return form;
};

/** Enters the example of a field in the form. */
async function enter(page: Page, forms: FormFields, field: Field): Promise<void> {
  const { label, type, choices } = formOf(forms, field);
  const input = page
    .getByRole('dialog')
    .getByLabel(type === 'amounts' ? `${label}, USD` : label, { exact: true });
  if (choices) await input.selectOption(String(field.example));
  else await input.fill(typedText(type, field.example));
}

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
function shownOf(forms: FormFields, field: Field): string {
  const { type, choices } = formOf(forms, field);
  const text = typedText(type, field.example);
  return choices ? wordLabel(field.name, text) : text;
}
