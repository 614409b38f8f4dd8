import type { PaymentFormat } from './format.ts';
import { nacha } from './nacha.ts';
import { paypal } from './paypal.ts';
import { sepa } from './sepa.ts';
import { summary } from './summary.ts';
import { wise } from './wise.ts';

/** Every format of payment files. */
export const FORMATS: readonly PaymentFormat[] = [summary, paypal, wise, sepa, nacha];
