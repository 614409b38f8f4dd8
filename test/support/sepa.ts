import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';

/** The schemas that `.ci/run` fetches. */
const FOLDER = fileURLToPath(new URL('../tools/sepa/vendor/sepa/tests/xsd', import.meta.url));

/** The ISO schema of a message, and the stricter one of German banks (GBIC_5). */
export const ISO_09 = 'pain.001.001.09.xsd';
export const ISO_03 = 'pain.001.001.03.xsd';
export const GBIC_5 = 'pain.001.001.09_GBIC_5.xsd';

/** Which of these schemas are not installed: the reason why a test is skipped, or null. */
export function missingSchemas(...names: string[]): string | null {
  const missing = names.filter((name) => !existsSync(`${FOLDER}/${name}`));
  return missing.length === 0 ? null : `not installed: ${missing.join(', ')} (.ci/run installs them)`;
}

/** A check of messages against a schema; throws the violations. */
export function validatorOf(name: string): (xml: string) => void {
  const schema = XmlDocument.fromBuffer(readFileSync(`${FOLDER}/${name}`));
  const validator = XsdValidator.fromDoc(schema);
  return (xml) => {
    const document = XmlDocument.fromString(xml);
    try {
      validator.validate(document);
    } finally {
      document.dispose();
    }
  };
}

const all = (xml: string, pattern: RegExp) => [...xml.matchAll(pattern)].map(([, text = '']) => text);

/** The payments in a message, as another reader finds them: reference, minor units, name, IBAN. */
export function paymentsIn(xml: string): { reference: string; amount: number; name: string; iban: string }[] {
  return all(xml, /<CdtTrfTxInf>(.*?)<\/CdtTrfTxInf>/gs).map((one) => {
    const [, reference = ''] = /<EndToEndId>(.*?)</.exec(one) ?? [];
    const [, euros = '', cents = ''] = /<InstdAmt Ccy="EUR">(\d+)\.(\d\d)</.exec(one) ?? [];
    const [, name = ''] = /<Cdtr><Nm>(.*?)</.exec(one) ?? [];
    const [, iban = ''] = /<CdtrAcct><Id><IBAN>(.*?)</.exec(one) ?? [];
    return { reference, amount: Number(euros + cents), name, iban };
  });
}

const TEXT = /^[a-zA-Z0-9/\-?:().,'+ ]+$/;

/** Violations of rules that no schema checks: sums, ids, characters, lengths and limits. */
export function breaches(xml: string): string[] {
  const payments = paymentsIn(xml);
  const sum = payments.reduce((total, { amount }) => total + BigInt(amount), 0n);
  const written = `${sum / 100n}.${String(sum % 100n).padStart(2, '0')}`;
  const ids = all(xml, /<(?:MsgId|PmtInfId|EndToEndId)>(.*?)</g);
  const names = all(xml, /<Nm>(.*?)</g);
  const texts = all(xml, /<Ustrd>(.*?)</g);
  const rules: readonly [string, boolean][] = [
    ['the counts', all(xml, /<NbOfTxs>(.*?)</g).join() === `${payments.length},${payments.length}`],
    ['the sums', all(xml, /<CtrlSum>(.*?)</g).join() === `${written},${written}`],
    ['ids have 1 to 35 characters', ids.every((id) => id.length >= 1 && id.length <= 35)],
    ['ids and slashes', ids.every((id) => !/^\/|\/$|\/\//.test(id))],
    ['a reference twice', new Set(payments.map(({ reference }) => reference)).size === payments.length],
    ['names have 1 to 70 characters', names.every((name) => name.length >= 1 && name.length <= 70)],
    ['texts have at most 140', texts.every((text) => text.length <= 140)],
    ['characters', [...ids, ...names, ...texts].every((text) => TEXT.test(text) && text === text.trim())],
    ['amounts', payments.every(({ amount }) => amount >= 1 && amount <= 99_999_999_999)],
  ];
  return rules.filter(([, isKept]) => !isKept).map(([rule]) => rule);
}
