import { countryName } from '../../../src/terms/countries.ts';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

let options: readonly { readonly value: string; readonly label: string }[] | undefined;

/** The countries with their two letters and English names, by name. */
export function countryOptions(): readonly { readonly value: string; readonly label: string }[] {
  options ??= LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .flatMap((value) => {
      const label = countryName(value);
      return label === null ? [] : [{ value, label }];
    })
    .sort((a, b) => a.label.localeCompare(b.label));
  return options;
}
