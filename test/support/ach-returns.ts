/** Returns and corrections of a bank in a NACHA file; validated by github.com/moov-io/ach in test/api/ach-returns.test.ts. */
import type { NachaPayment } from './nacha.ts';

/** A payment that the bank returns or corrects. */
export interface Back {
  readonly payment: NachaPayment;
  /** R01 to R85, or C01 to C14. */
  readonly code: string;
  /** The corrected data, or the text of a return. */
  readonly data?: string;
  /** Of the batch; by default as it was sent, and COR for corrections. */
  readonly section?: string;
  readonly transactionCode?: string;
}

const BANK = '02100002';
const OPERATOR = '09100001';

const digits = (value: bigint | number, width: number) => String(value).padStart(width, '0');

function recordsOf({ payment, code, data = '', transactionCode }: Back, place: number): readonly string[] {
  const { routing, number, amount, reference, name, trace } = payment;
  const isChange = code.startsWith('C');
  const own = `${OPERATOR}${digits(place, 7)}`;
  const account = transactionCode ?? (String(payment.code).startsWith('3') ? '31' : '21');
  const original = `${code}${trace}${' '.repeat(6)}${routing.slice(0, 8)}`;
  return [
    `6${account}${BANK}1${number.padEnd(17)}${digits(isChange ? 0 : amount, 10)}${reference.padEnd(15)}${name.padEnd(22)}  1${own}`,
    `79${isChange ? 8 : 9}${original}${data.padEnd(44)}${own}`,
  ];
}

function totalsOf(entries: readonly string[]): string {
  const only = entries.filter((line) => line.startsWith('6'));
  const sum = (isCredit: boolean) =>
    only
      .filter((line) => Number(line[2]) < 5 === isCredit)
      .reduce((all, line) => all + BigInt(line.slice(29, 39)), 0n);
  const hash = only.reduce((all, line) => all + BigInt(line.slice(3, 11)), 0n) % 10n ** 10n;
  return digits(hash, 10) + digits(sum(false), 12) + digits(sum(true), 12);
}

/** A NACHA file with these returns and corrections, made on a day, `YYYY-MM-DD`. */
export function achReturns(all: readonly Back[], madeOn = '2026-11-20'): string {
  const sections = new Map<string, Back[]>();
  for (const each of all) {
    const section = each.section ?? (each.code.startsWith('C') ? 'COR' : each.payment.class);
    sections.set(section, [...(sections.get(section) ?? []), each]);
  }
  const batches: string[][] = [];
  const places = new Map(all.map((each, index) => [each, index + 1]));
  for (const [section, inside] of sections) {
    const number = `${OPERATOR}${digits(batches.length + 1, 7)}`;
    const entries = inside.flatMap((each) => recordsOf(each, places.get(each) ?? 0));
    const company = '1234567890';
    const serviceClass = entries.some((line) => line.startsWith('6') && Number(line[2]) > 4) ? '200' : '220';
    batches.push([
      `5${serviceClass}${'Difference Engin'.padEnd(36)}${company}${section}${'PAYROLL'.padEnd(10)}${' '.repeat(6)}261119${' '.repeat(3)}1${number}`,
      ...entries,
      `8${serviceClass}${digits(entries.length, 6)}${totalsOf(entries)}${company}${' '.repeat(25)}${number}`,
    ]);
  }
  const lines = batches.flat();
  const entries = lines.filter((line) => /^[67]/.test(line));
  const blocks = Math.ceil((lines.length + 2) / 10);
  const written = [
    `101 121042882 ${BANK}1${madeOn.slice(2).replaceAll('-', '')}0600A094101${'DIFFERENCE ENGINES'.padEnd(23)}${'JPMORGAN CHASE'.padEnd(23)}${' '.repeat(8)}`,
    ...lines,
    `9${digits(batches.length, 6)}${digits(blocks, 6)}${digits(entries.length, 8)}${totalsOf(entries)}${' '.repeat(39)}`,
  ];
  return [...written, ...Array(blocks * 10 - written.length).fill('9'.repeat(94)), ''].join('\n');
}
