import { live } from '../data/preferences.ts';
import { common } from '../texts/common.ts';
import { Checkbox } from './field.tsx';

/** The switch of a log: whether it follows what happens. Kept for the next visit. */
export function LiveSwitch() {
  return (
    <Checkbox
      label={common.live}
      isChecked={live.use() === 'on'}
      onChange={(isOn) => live.set(isOn ? 'on' : 'off')}
    />
  );
}

/** A hook: how a log is to be read, by that switch. */
export const useLive = () => (live.use() === 'on' ? ('watched' as const) : false);
