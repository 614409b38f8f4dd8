import type { PaymentFormatName } from '../../terms/payments.ts';
import type { PaymentFormat } from './format.ts';
import { nacha } from './nacha.ts';
import { paypal } from './paypal.ts';
import { sepa } from './sepa.ts';
import { summary } from './summary.ts';
import { wise } from './wise.ts';
import { wiseBank } from './wise-bank.ts';

/** Every format of payment files, in the order of overviews. */
export const FORMATS: readonly PaymentFormat[] = Object.values({
  summary,
  paypal,
  wise,
  wise_bank: wiseBank,
  sepa,
  nacha,
} satisfies Record<'summary' | PaymentFormatName, PaymentFormat>);
