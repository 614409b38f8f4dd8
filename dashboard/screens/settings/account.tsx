import { type FormEvent, useState } from 'react';
import type { Account } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { CurrencyField } from '../../parts/currency.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { optionsOf, SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';
import { withTax } from '../../texts/with-tax.ts';
import { AmountsField, amountsOf, minorOf } from './amounts.tsx';
import { DebtorFields, debtorFrom, typedDebtor } from './debtor.tsx';
import { Settings } from './frame.tsx';
import { InvoicingFields, invoicingFrom, isInvoicingGood, typedInvoicing } from './invoicing.tsx';
import { OriginatorFields, originatorFrom, typedOriginator } from './originator.tsx';
import { SignalsFields, signalsFrom, typedSignals } from './signals.tsx';
import { StatesField, statesFrom, typedStates } from './states.tsx';
import { TaxFields, taxFrom, typedTax } from './tax.tsx';

const texts = settings.account;

/** /settings/account */
export function AccountSettings() {
  const { data: account, error, refetch } = useRead('getAccount', {});
  return (
    <Settings part="account">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {account === undefined ? !error && <Skeleton lines={6} /> : <AccountForm account={account} />}
    </Settings>
  );
}

function AccountForm({ account }: { account: Account }) {
  const may = useMay();
  const saving = useWrite('changeAccount');
  const [name, setName] = useState(account.name);
  const [currency, setCurrency] = useState(account.default_currency);
  const [zone, setZone] = useState(account.time_zone);
  const [hold, setHold] = useState(String(account.hold_days));
  const [minimums, setMinimums] = useState(() => amountsOf(account.minimum_payout));
  const [limits, setLimits] = useState(() => amountsOf(account.paypal_payment_limit));
  const [approval, setApproval] = useState(account.approval);
  const [wait, setWait] = useState(String(account.destination_wait_hours));
  const [payoutForm, setPayoutForm] = useState(account.payout_form);
  const [withholding, setWithholding] = useState(account.backup_withholding);
  const [commissionsAre, setCommissionsAre] = useState(account.commissions_are);
  const [states, setStates] = useState(() => typedStates(account));
  const [signals, setSignals] = useState(() => typedSignals(account));
  const [origins, setOrigins] = useState(account.portal_origins.join('\n'));
  const [eventOwner, setEventOwner] = useState(account.event_owner);
  const [validation, setValidation] = useState(account.event_validation);
  const [most, setMost] = useState(String(account.endpoints_per_owner ?? ''));
  const [debtor, setDebtor] = useState(() => typedDebtor(account));
  const [originator, setOriginator] = useState(() => typedOriginator(account));
  const [tax, setTax] = useState(() => typedTax(account));
  const [invoicing, setInvoicing] = useState(() => typedInvoicing(account));
  const [minimumPayout, paymentLimit, thresholds] = [minorOf(minimums), minorOf(limits), statesFrom(states)];
  const payoutSignals = signalsFrom(signals);
  const isWaitGood = /^\d{1,3}$/.test(wait) && Number(wait) <= 720;
  const isMostGood = /^([1-9]\d{0,4})?$/.test(most);
  const isHoldGood = /^\d{1,4}$/.test(hold);
  const isGood =
    minimumPayout !== null &&
    paymentLimit !== null &&
    thresholds !== null &&
    payoutSignals !== null &&
    [isHoldGood, isWaitGood, isMostGood, isInvoicingGood(invoicing)].every(Boolean);
  const zones = [...new Set([account.time_zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!isGood || saving.isPending) return;
    const body = {
      name,
      default_currency: currency,
      time_zone: zone,
      hold_days: Number(hold),
      minimum_payout: minimumPayout,
      paypal_payment_limit: paymentLimit,
      approval,
      destination_wait_hours: Number(wait),
      payout_form: payoutForm,
      backup_withholding: withholding,
      commissions_are: commissionsAre,
      payout_signals: payoutSignals,
      state_thresholds: thresholds,
      debtor: debtorFrom(debtor),
      originator: originatorFrom(account, originator),
      tax_profile: taxFrom(tax),
      invoicing: invoicingFrom(invoicing),
      portal_origins: origins.split(/\s+/).filter(Boolean),
      event_owner: eventOwner,
      event_validation: validation,
      endpoints_per_owner: most === '' ? null : Number(most),
    };
    saving.mutate({ body }, { onSuccess: () => toast(texts.saved) });
  };
  return (
    <form onSubmit={save} className="settings-form">
      {!may.write && <Notice>{texts.readOnly}</Notice>}
      <fieldset disabled={!may.write}>
        <Card title={texts.general}>
          <TextField label={texts.name} value={name} onChange={setName} maxLength={200} />
          <CurrencyField
            label={texts.currency}
            hint={texts.currencyHint}
            value={currency}
            likely={[account.default_currency]}
            onChange={setCurrency}
          />
          <SelectField
            label={texts.zone}
            hint={texts.zoneHint}
            value={zone}
            options={zones.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
            onChange={setZone}
          />
          <TextField
            label={texts.hold}
            hint={texts.holdHint}
            value={hold}
            onChange={setHold}
            problem={isHoldGood ? null : texts.badHold}
          />
        </Card>
        <Card title={texts.minimums}>
          <AmountsField hint={texts.minimumsHint} amounts={minimums} onChange={setMinimums} />
        </Card>
        <Card title={texts.limits}>
          <AmountsField hint={texts.limitsHint} amounts={limits} onChange={setLimits} />
        </Card>
        <Card title={texts.payouts}>
          <SelectField
            label={texts.approval}
            hint={texts.approvalHint}
            value={approval}
            options={optionsOf(['none', 'second_person'], texts.approvals)}
            onChange={setApproval}
          />
          <TextField
            label={texts.wait}
            hint={texts.waitHint}
            value={wait}
            onChange={setWait}
            problem={isWaitGood ? null : texts.badWait}
          />
          <SelectField
            label={texts.payoutForm}
            hint={texts.payoutFormHint}
            value={payoutForm}
            options={optionsOf(['none', 'at_threshold', 'always'], texts.payoutForms)}
            onChange={setPayoutForm}
          />
          <SelectField
            label={withTax.setting}
            hint={withTax.settingHint}
            value={withholding}
            options={optionsOf(['none', 'at_threshold', 'always'], withTax.settings)}
            onChange={setWithholding}
          />
          <SelectField
            label={texts.commissionsAre}
            hint={texts.commissionsAreHint}
            value={commissionsAre}
            options={optionsOf(['gross', 'net'], texts.commissionsAreOptions)}
            onChange={setCommissionsAre}
          />
          <StatesField typed={states} onChange={setStates} />
        </Card>
        <SignalsFields typed={signals} onChange={setSignals} />
        <DebtorFields typed={debtor} onChange={setDebtor} />
        <OriginatorFields typed={originator} onChange={setOriginator} />
        <TaxFields typed={tax} onChange={setTax} />
        <InvoicingFields typed={invoicing} onChange={setInvoicing} />
        <Card title={texts.portals}>
          <SelectField
            label={texts.eventOwner}
            hint={texts.eventOwnerHint}
            value={eventOwner}
            options={optionsOf(['optional', 'required'], texts.eventOwners)}
            onChange={setEventOwner}
          />
          <SelectField
            label={texts.eventValidation}
            hint={texts.eventValidationHint}
            value={validation}
            options={optionsOf(['off', 'warn', 'refuse'], texts.eventValidations)}
            onChange={setValidation}
          />
          <TextField
            label={texts.mostPerOwner}
            hint={texts.mostPerOwnerHint}
            value={most}
            onChange={setMost}
            problem={isMostGood ? null : texts.badMost}
            isOptional
          />
          <TextArea
            label={texts.origins}
            hint={texts.originsHint}
            value={origins}
            onChange={setOrigins}
            rows={3}
            isCode
            isOptional
          />
        </Card>
        {saving.error && <Problem error={saving.error} />}
        {may.write && (
          <Button kind="primary" type="submit" isBusy={saving.isPending} isDisabled={!isGood}>
            {texts.save}
          </Button>
        )}
      </fieldset>
      <Card>
        <Facts
          rows={[
            [texts.facts.id, <Id key="id">{account.id}</Id>],
            [texts.facts.created, <Time key="created" at={account.created_at} isFocusable />],
            [texts.facts.changed, <Time key="changed" at={account.updated_at} isFocusable />],
          ]}
        />
      </Card>
    </form>
  );
}
