import { live } from '../data/preferences.ts';
import { common } from '../texts/common.ts';
import { Checkbox } from './field.tsx';

/** The switch that turns live updates of a log on and off. Kept for the next visit. */
export function LiveSwitch() {
  return (
    <Checkbox
      label={common.live}
      isChecked={live.use() === 'on'}
      onChange={(isOn) => live.set(isOn ? 'on' : 'off')}
    />
  );
}

/** A hook: the `isLive` option for a log, according to that switch. */
export const useLive = () => (live.use() === 'on' ? ('watched' as const) : false);
