import {
  AFFILIATE_FIELDS,
  COMMISSION_FIELDS,
  DESTINATION_FIELDS,
  type FormFields,
} from '../../src/client/fields.ts';
import { count, listed } from './common.ts';
import { roleCannot } from './roles.ts';
import { wordLabel } from './words.ts';

const lines = (number: number) => count(number, 'line');
const affiliates = (number: number) => count(number, 'affiliate');
const commissions = (number: number) => count(number, 'commission');
const payouts = (number: number) => count(number, 'past payout');
const records = { affiliates, commissions };

/** The label of each field that a column can give, by the name of the column. */
const columnLabels = (fields: FormFields) =>
  Object.fromEntries(
    Object.values(fields).flatMap(({ label, column }) => (column === undefined ? [] : [[column, label]])),
  );

const meanings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'commissions.status': { unpaid: 'Owed', pending: 'Held for review', paid: 'Paid', rejected: 'Left out' },
  'commissions.approval': { approved: 'Owed', pending: 'Held for review', rejected: 'Left out' },
};

export const imports = {
  title: 'Import',
  lead: 'Import affiliates, commissions and past payouts from a spreadsheet or any CSV file. A preview shows the result before anything is written.',
  viewer: roleCannot('write', 'import files or undo imports'),
  lines,
  kinds: { affiliates: 'Affiliates', commissions: 'Commissions and past payouts' },
  kindHints: {
    affiliates: 'Who earns commissions, and how each is paid. A column of e-mail addresses is required.',
    commissions:
      'Who earned what. Lines that were paid elsewhere are imported as paid, in past payouts. Import the affiliates first.',
  },
  kind: 'What the file contains',
  drop: {
    title: 'Drop a spreadsheet or CSV file here',
    here: 'Drop the file to read it',
    or: 'From Excel (.xlsx), LibreOffice (.ods), Google Sheets or another product. Nothing is written yet.',
    choose: 'Choose a file',
    other: 'Choose another file',
    several: 'Drop one file at a time.',
    noFile: 'That was not a file.',
  },
  wrong: {
    unreadable: (name: string) => `“${name}” can no longer be read.`,
    unreadableHint:
      'It was saved again, moved or deleted after you chose it, or it is a folder. Choose it again.',
    nothing: 'Nothing was written. Choose another file, or correct this one and choose it again.',
  },
  working: {
    reading: (name: string, size: string) => `Reading “${name}” (${size}) and trying every line…`,
    importing: (what: string) =>
      `Importing ${what}. Keep this tab open until it is done. If it fails, nothing is written.`,
    sending: (sent: string, all: string) => `${sent} of ${all} sent`,
    stages: {
      looking: 'Detecting the format of the file',
      reading: 'Reading the lines',
    },
    writing: (lines: number | undefined) =>
      `Comparing ${lines === undefined ? 'the lines' : count(lines, 'line')} with existing records, and writing`,
    read: (lines: number, all: number | undefined) =>
      all === undefined
        ? `${count(lines, 'line')} read`
        : `${lines.toLocaleString()} of ${count(all, 'line')} read`,
    seconds: (number: number) => `${count(number, 'second')} so far.`,
    expected: (number: number) =>
      `The preview took ${count(number, 'second')}, and this takes about as long.`,
  },
  dialect: {
    title: 'How the file is read',
    hint: 'Detected from the file. If you correct something, everything below is updated.',
    sheet: 'Sheet',
    hidden: (name: string) => `${name} (hidden)`,
    header: 'Names of the columns',
    headerLine: (line: number) => `Line ${line}`,
    separator: 'Separator',
    separators: {
      comma: 'Comma ,',
      semicolon: 'Semicolon ;',
      tab: 'Tab',
      bar: 'Bar |',
    },
    decimal: 'Decimal sign',
    decimals: { point: 'Point: 1,234.56', comma: 'Comma: 1.234,56' },
    encoding: 'Encoding',
    encodings: {
      'utf-8': 'UTF-8',
      'utf-16le': 'UTF-16 (little endian)',
      'utf-16be': 'UTF-16 (big endian)',
      'windows-1252': 'Windows-1252',
    },
    dates: 'Dates',
    datesBy: { iso: 'Year first: 2026-09-01', dmy: 'Day first: 01/09/2026', mdy: 'Month first: 09/01/2026' },
    paid: 'Lines that were paid elsewhere',
    paids: { import: 'Import as paid', skip: 'Leave out' },
    mapping: 'Saved mapping',
    noMapping: 'None: guess the columns',
  },
  questions: {
    title: 'Answer this first',
    columnHint: 'Choose its column in the table below, or add it for every line.',
    choice: (parts: readonly string[], leftOut: readonly string[]) =>
      `Use ${listed(parts)}${leftOut.length === 0 ? '' : `, and leave ${listed(leftOut)} out`}`,
    is: (column: string, field: string) => `“${column}” as ${field}`,
    means: (word: string, meaning: string) => `“${word}” means ${meaning}`,
    wordHint: 'You can also choose it in the table of words below.',
    countryHint: 'Choose the country in the table of words below.',
    paidOn: 'All of them were paid on',
  },
  columns: {
    title: 'What each column means',
    column: 'Column',
    field: 'Becomes',
    samples: 'First values',
    how: 'Recognised by',
    of: (column: string) => `What “${column}” becomes`,
    ignore: 'Leave out',
    sources: {
      given: 'You',
      saved: 'Saved mapping',
      exact: 'Its name',
      synonym: 'Its name, guessed',
      values: 'Its values, guessed',
      none: '',
    },
  },
  values: {
    title: (column: string) => `What the words of “${column}” mean`,
    word: 'Word in the file',
    means: 'Means',
    how: 'Recognised by',
    of: (word: string) => `What “${word}” means`,
    unknown: 'Not known: choose',
    refuse: 'Refuse these lines',
    more: (number: number) => `${count(number, 'more word')} ${number === 1 ? 'is' : 'are'} not listed.`,
    sources: { given: 'You', exact: 'The same word', synonym: 'A common word, guessed', none: 'Not known' },
  },
  /** A word of the API for people: `inactive` of a status is Inactive. */
  meaning: (kind: 'affiliates' | 'commissions', field: string, word: string) =>
    meanings[`${kind}.${field}`]?.[word] ?? wordLabel(field, word),
  constants: {
    title: 'The same in every line',
    hint: 'For values that no column contains, such as the currency or the day of payment.',
    field: 'Field',
    choose: 'Choose a field',
    value: 'Value',
    add: 'Add',
    remove: (field: string) => `Remove ${field}`,
  },
  fields: {
    affiliates: {
      ...columnLabels(AFFILIATE_FIELDS),
      name: 'Full name',
      ...columnLabels(DESTINATION_FIELDS),
      legal_name: 'Legal name',
      tax_country: 'Tax country',
      address_line1: 'Address',
      address_line2: 'Address, second line',
      address_postal_code: 'Postal code',
      address_city: 'City',
      address_region: 'State or province',
      tax_id: 'Tax id',
      tax_id_type: 'Kind of tax id',
      siren: 'SIREN or SIRET',
      electronic_address: 'Electronic address',
      tax_form: 'Tax form',
      tax_form_signed_on: 'Tax form: signed on',
      tax_form_document: 'Tax form: kept at',
      self_billing_agreed_on: 'Self-billing: agreed on',
      self_billing_expires_on: 'Self-billing: expires on',
      self_billing_agreed_by: 'Self-billing: agreed by',
      self_billing_document: 'Self-billing: kept at',
    },
    commissions: {
      ...columnLabels(COMMISSION_FIELDS),
      affiliate_id: 'Affiliate, by Payhook id',
      rate_bps: 'Rate in hundredths of a percent',
      status: 'Payment status',
      approval: 'Approval status',
      paid_at: 'Paid on',
      payment_reference: 'Payment reference',
      is_pending: 'Held for review',
    },
  } as Readonly<Record<'affiliates' | 'commissions', Readonly<Record<string, string>>>>,
  rows: { title: 'The first lines, as they are read', line: 'Line', leftOut: 'Left out' },
  guessed: (number: number) => `Importing accepts ${count(number, 'guess', 'guesses')}`,
  report: {
    title: 'What the import does',
    created: 'New',
    updated: 'Changed',
    unchanged: 'Already there',
    skipped: 'Left out',
    skippedHint: 'Their status says they are not owed.',
    failed: 'Bad lines',
    payouts: 'Past payouts',
    sums: 'Sums of the good lines',
    good: 'All lines are good.',
    allBad: 'Every line is bad',
    allBadHint: 'Usually a column is mapped to the wrong field, or the file contains something else.',
    errors: 'Bad lines',
    errorsLead: (bad: number) => `${lines(bad)} cannot be imported.`,
    firstThousand: 'The first 1,000 are listed here; the download has up to 100,000.',
    line: 'Line',
    column: 'Column',
    value: 'In the file',
    what: 'What is wrong',
    download: 'Download the bad lines',
    downloadHint: 'A CSV file of these lines, each with its error. Correct them and import the file.',
  },
  keep: {
    label: 'Save the mapping for the next file with these columns',
    name: 'Name of the mapping',
    known: (name: string) => `Read with the saved mapping “${name}”.`,
  },
  action: (kind: 'affiliates' | 'commissions', number: number) => `Import ${records[kind](number)}`,
  actionPartial: (kind: 'affiliates' | 'commissions', number: number, bad: number) =>
    `Import ${records[kind](number)} without ${count(bad, 'bad line')}`,
  noLines: 'The file has no line below the names of its columns.',
  nothingGood: 'No line in the file can be imported as it is.',
  nothingToDo: 'Nothing in the file is new.',
  open: 'Answer the question above first.',
  final: {
    lead: (past: number) =>
      `This creates ${payouts(past)}. Paid amounts never change, so the import cannot be undone.`,
    webhooks: 'Past payouts send no webhooks.',
  },
  done: {
    title: 'File imported',
    text: (parts: readonly string[]) => (parts.length === 0 ? 'Nothing was new.' : `${listed(parts)}.`),
    again: 'Import another file',
    see: { affiliates: 'See the affiliates', commissions: 'See the commissions' },
    record: 'See the record',
  },
  parts: {
    created: (number: number) => `${number.toLocaleString()} new`,
    updated: (number: number) => `${number.toLocaleString()} changed`,
    unchanged: (number: number) => `${number.toLocaleString()} already there`,
    skipped: (number: number) => `${number.toLocaleString()} left out`,
    failed: (number: number) => count(number, 'bad line'),
    payouts,
  },
  records: {
    title: 'Past imports',
    anyKind: 'Affiliates and commissions',
    anyStatus: 'Any status',
    statuses: { completed: 'Imported', undone: 'Undone' },
    file: 'File',
    noName: 'Unnamed file',
    result: 'Result',
    sums: 'Sums',
    status: 'Status',
    created: 'Imported',
    empty: 'Nothing imported yet',
    emptyLead: 'Every import is recorded here: who imported which file, how it was read, and the result.',
    filtered: 'No import matches.',
    by: 'Imported by',
    undoneBy: 'Undone by',
    undoneAt: 'Undone',
    bytes: 'Size',
    digest: 'Digest of the file',
    noDigest: 'deleted when the secret key was changed',
    id: 'Id',
    mapping: 'Column mapping',
    constant: (value: string) => `“${value}” in every line`,
    guessed: 'Guesses',
  },
  undo: {
    ended: 'The import can no longer be undone: the earlier state of its affiliates has been deleted.',
    action: 'Undo this import',
    title: (name: string) => `Undo the import of “${name}”`,
    affiliates: (created: number, updated: number) =>
      `${listed([
        ...(created > 0
          ? [`${affiliates(created)} that it created ${created === 1 ? 'is' : 'are'} deleted`]
          : []),
        ...(updated > 0
          ? [`${affiliates(updated)} that it changed ${updated === 1 ? 'is' : 'are'} restored`]
          : []),
      ])}.`,
    commissions: (created: number) =>
      `${commissions(created)} ${created === 1 ? 'is' : 'are'} voided and no longer owed. Your ids become free again, so you can import a corrected file.`,
    unchanged: 'Records from before the import stay.',
    used: 'The import cannot be undone once any of its records was paid, refunded, put into a payout or changed.',
    paid: (past: number) =>
      `The import created ${payouts(past)}. Paid amounts never change, so it cannot be undone.`,
    nothing: 'The import changed nothing that could be undone.',
    done: (name: string) => `The import of “${name}” was undone.`,
  },
};
