import { isDeepStrictEqual } from 'node:util';
import { isAllowed } from '../../contract/access.ts';
import { assignmentsOf } from '../../contract/changes.ts';
import type { Principal } from '../../contract/route.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf } from '../../kernel/ids.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { nameWithoutAddress } from '../../kernel/names.ts';
import { clip } from '../../kernel/strict-json.ts';
import { isZone, UTC } from '../../kernel/zones.ts';
import { DEFAULT_SIGNALS } from '../../terms/payout-signals.ts';
import { masked } from '../../terms/tax-ids.ts';
import { US_STATES } from '../../terms/us-thresholds.ts';
import { createKey } from '../keys/service.ts';
import { affiliateNoticesFrom } from './affiliate-notices.ts';
import { contactNoticesFrom } from './contact-notices.ts';
import { debtorFrom } from './debtor.ts';
import { invoicingFrom } from './invoicing.ts';
import { originatorFrom } from './originator.ts';
import { originsFrom } from './origins.ts';
import { payoutSignalsFrom } from './payout-signals.ts';
import { PROTECTED, type ProtectedAction, TRUSTED } from './protection.ts';
import type { Account, AccountChange, Payer } from './record.ts';
import {
  allAccounts,
  insertAccount,
  readAccount,
  readApproval,
  readDestinationWait,
  readPayer,
  readProtection,
  readsBlocks,
  readZone,
  spelledZone,
  updateAccount,
} from './store.ts';
import { accountTaxProfileFrom } from './tax-profile.ts';

/** Makes an account (tenant) with its payout books. Returns its UUID and record. Throws `invalid_body`. */
export function createAccount(tx: Tx, name: string): Promise<{ id: AccountId; json: Json<Account> }> {
  return insertAccount(tx, nameWithoutAddress(name));
}

/** An account as the operator sees it. */
export interface ListedAccount {
  readonly id: string;
  readonly uuid: AccountId;
  readonly name: string;
  /** `payhook demo` filled it. */
  readonly isDemo: boolean;
}

/** All accounts of the platform, the oldest first. For the operator only: it crosses tenants. */
export async function listAccounts(db: Reader): Promise<ListedAccount[]> {
  return (await allAccounts(db)).map(({ id, name, is_demo }) => ({
    id: idOf('acc', id),
    uuid: id,
    name,
    isDemo: is_demo,
  }));
}

/** The account (UUID) that was created first: its owners are notified of what concerns the whole installation. */
export async function firstAccount(db: Reader): Promise<AccountId> {
  const [first] = await allAccounts(db);
  if (first === undefined) throw new Error('there is no account');
  return first.id;
}

/** On an empty database: the first account and its first key. null when there are accounts already. */
export async function createFirstAccount(tx: Tx): Promise<{ account: AccountId; secret: string } | null> {
  if ((await allAccounts(tx)).length > 0) return null;
  const { id } = await insertAccount(tx, 'Default');
  const { secret } = await createKey(tx, id, { name: 'first key', createdBy: 'setup' });
  return { account: id, secret };
}

/** The account's settings. */
export async function getAccount(db: Reader, account: AccountId): Promise<Json<Account>> {
  const json = await readAccount(db, account);
  if (json === null) throw fail('resource_missing', 'no such account');
  return json;
}

/** The account as a caller may see it: without the capability `files`, numbers that payment files and invoices contain are masked. */
export function accountFor(principal: Principal, json: Json<Account>): Json<Account> {
  if (isAllowed(principal, 'files')) return json;
  const account = fromJson(json);
  const { debtor, originator, tax_profile: profile } = account;
  return toJson({
    ...account,
    debtor: debtor && { ...debtor, iban: masked(debtor.iban) },
    originator: originator && {
      ...originator,
      immediate_origin: masked(originator.immediate_origin),
      company_id: masked(originator.company_id),
    },
    tax_profile: profile && { ...profile, tax_number: profile.tax_number && masked(profile.tax_number) },
  });
}

/** The IANA name of the account's time zone: whose midnights its days lie between. */
export async function zoneOf(db: Reader, account: AccountId): Promise<string> {
  return (await readZone(db, account)) ?? UTC;
}

/** Whom the bank files of an account are from. */
export async function payerOf(db: Reader, account: AccountId): Promise<Payer> {
  return fromJson(await readPayer(db, account));
}

/**
 * Changes settings; a new hold applies to new commissions only. Throws `invalid_body` for an unknown currency or
 * time zone, a name with invisible characters or a web address, what is no origin, a debtor or originator that no bank takes, or a
 * wrong VAT id.
 */
export async function changeAccount(
  tx: Tx,
  account: AccountId,
  input: AccountChange,
): Promise<Json<Account>> {
  const changes = assignmentsOf(
    {
      ...input,
      ...(input.name !== undefined ? { name: await newName(tx, account, input.name) } : {}),
      ...(input.default_currency !== undefined
        ? { default_currency: knownCurrency('default_currency', input.default_currency) }
        : {}),
      ...(input.minimum_payout !== undefined
        ? { minimum_payout: knownAmounts('minimum_payout', input.minimum_payout) }
        : {}),
      ...(input.time_zone !== undefined ? { time_zone: await knownZone(tx, input.time_zone) } : {}),
      ...(input.paypal_payment_limit !== undefined
        ? { paypal_payment_limit: knownAmounts('paypal_payment_limit', input.paypal_payment_limit) }
        : {}),
      ...(input.state_thresholds !== undefined
        ? { state_thresholds: knownStates(input.state_thresholds) }
        : {}),
      ...(input.payout_signals !== undefined
        ? { payout_signals: payoutSignalsFrom(input.payout_signals, knownAmounts) }
        : {}),
      ...(input.portal_origins !== undefined ? { portal_origins: originsFrom(input.portal_origins) } : {}),
      ...(input.debtor ? { debtor: debtorFrom(input.debtor) } : {}),
      ...(input.originator ? { originator: originatorFrom(input.originator) } : {}),
      ...(input.invoicing ? { invoicing: invoicingFrom(input.invoicing) } : {}),
      ...(input.affiliate_notices
        ? { affiliate_notices: affiliateNoticesFrom(input.affiliate_notices) }
        : {}),
      ...(input.contact_notices ? { contact_notices: contactNoticesFrom(input.contact_notices) } : {}),
      ...(input.tax_profile ? { tax_profile: accountTaxProfileFrom(input.tax_profile) } : {}),
    },
    [
      'name',
      'default_currency',
      'hold_days',
      'minimum_payout',
      'time_zone',
      'paypal_payment_limit',
      'portal_origins',
      'event_owner',
      'event_validation',
      'endpoints_per_owner',
      'approval',
      'destination_wait_hours',
      'payout_form',
      'backup_withholding',
      'commissions_are',
      'payout_signals',
      'state_thresholds',
      'debtor',
      'originator',
      'tax_profile',
      'invoicing',
      'affiliate_notices',
      'contact_notices',
    ],
  );
  return changes === null ? getAccount(tx, account) : updateAccount(tx, account, changes);
}

async function newName(tx: Tx, account: AccountId, name: string): Promise<string> {
  return nameWithoutAddress(name, fromJson(await getAccount(tx, account)).name);
}

/** Whether payouts of the account need a second person. */
export async function needsApproval(db: Reader, account: AccountId): Promise<boolean> {
  return (await readApproval(db, account)) === 'second_person';
}

/**
 * Throws `owner_required` unless the caller may make this change. A key is in the hands of programs, and one person may
 * hold it: it cannot take away the second person whom payouts need, shorten the wait of changed destinations, or change signals while one blocks.
 */
export async function authorizeChange(
  tx: Tx,
  principal: Principal,
  { approval, destination_wait_hours: hours, payout_signals: signals }: AccountChange,
): Promise<void> {
  if (isTrusted(principal)) return;
  const { account } = principal;
  if (approval === 'none' && (await needsApproval(tx, account))) throw refusal('end_approval');
  if (hours !== undefined && hours < (await readDestinationWait(tx, account))) throw refusal('shorten_wait');
  if (signals !== undefined && (await readsBlocks(tx, account))) {
    const { payout_signals: before } = fromJson(await getAccount(tx, account));
    const after = { ...DEFAULT_SIGNALS, ...payoutSignalsFrom(signals, knownAmounts) };
    if (!isDeepStrictEqual(before, after)) throw refusal('change_blocks');
  }
}

/**
 * Throws `owner_required` when the caller may not let somebody in, because payouts need a second person or a changed
 * destination waits: whoever holds a key could make that person up.
 */
export async function authorizeLettingIn(
  tx: Tx,
  principal: Principal,
  action: 'invite' | 'raise_role' | 'make_link',
): Promise<void> {
  if (isTrusted(principal) || !(await readProtection(tx, principal.account))) return;
  throw refusal(action);
}

const isTrusted = (principal: Principal) =>
  (principal.kind === 'operator' || principal.kind === 'user') && isAllowed(principal, 'people');

const refusal = (action: ProtectedAction) =>
  fail('owner_required', PROTECTED[action].refusal(`only ${TRUSTED}, may`));

/** The normalised currency of a field. Throws `invalid_body` naming the field. */
export function knownCurrency(field: string, code: string): string {
  const currency = normalizeCurrency(code);
  if (currency === null)
    throw fail('invalid_body', `${field} must be an ISO 4217 currency code, not ${code}`);
  return currency;
}

/** The canonical name of a time zone. Days are computed here and in PostgreSQL, so both must know it. */
async function knownZone(db: Reader, name: string): Promise<string> {
  const zone = isZone(name) ? await spelledZone(db, name) : null;
  if (zone === null) {
    throw fail(
      'invalid_body',
      `time_zone must be the name of an IANA time zone such as Europe/Berlin, not ${clip(name)}`,
    );
  }
  return zone;
}

/** Amounts per currency, normalised. Throws `invalid_body`, naming the field, for an unknown or repeated one. */
export function knownAmounts(
  field: string,
  amounts: Readonly<Record<string, number>>,
): Record<string, number> {
  const entries = Object.entries(amounts).map(
    ([code, amount]) => [knownCurrency(field, code), amount] as const,
  );
  if (new Set(entries.map(([code]) => code)).size < entries.length) {
    throw fail('invalid_body', `${field} names a currency twice`);
  }
  return Object.fromEntries(entries);
}

/** Amounts by state, in capitals. Throws `invalid_body` for what is no state, or is named twice. */
function knownStates(amounts: Readonly<Record<string, number | null>>): Record<string, number | null> {
  const entries = Object.entries(amounts).map(
    ([code, amount]) => [code.trim().toUpperCase(), amount] as const,
  );
  const wrong = entries.find(([code]) => !US_STATES.includes(code));
  if (wrong)
    throw fail(
      'invalid_body',
      `state_thresholds must name states by two letters such as CA, not ${clip(wrong[0])}`,
    );
  if (new Set(entries.map(([code]) => code)).size < entries.length)
    throw fail('invalid_body', 'state_thresholds names a state twice');
  return Object.fromEntries(entries);
}
