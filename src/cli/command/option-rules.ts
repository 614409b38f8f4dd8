import type { Command, Option } from 'commander';
import { UsageError } from './errors.ts';

/** The options of the program that choose the data of a command. */
export type PlaceOption = '--account' | '--data-dir' | '--env-file';

/** An option that has no effect when another one is given, and why. */
interface Contradiction {
  readonly option: string;
  readonly other: string;
  readonly because: string;
}

const unused = new WeakMap<Command, readonly PlaceOption[]>();
const contradictions = new WeakMap<Command, readonly Contradiction[]>();

/**
 * Marks options that a command and its subcommands do not use: their help omits them, and using them is refused.
 */
export function takesNo(command: Command, ...options: readonly PlaceOption[]): Command {
  unused.set(command, options);
  return command;
}

/** Marks that `option` of a command has no effect together with another option of the command or the program. */
export function noEffect(command: Command, contradiction: Contradiction): Command {
  contradictions.set(command, [...(contradictions.get(command) ?? []), contradiction]);
  return command;
}

/** Whether a command uses an option of the program. */
export function takes(command: Command, option: string): boolean {
  if (unused.get(command)?.some((each) => each === option)) return false;
  return command.parent === null || takes(command.parent, option);
}

/**
 * Makes a program refuse, with a UsageError, options without effect: an unused one, one given twice, or one overridden
 * by another.
 */
export function refuseMeaningless(program: Command): void {
  refuseRepeats(program);
  program.hook('preAction', (_, command) => {
    refuseUnused(program, command);
    refuseContradictions(command);
  });
}

function refuseUnused(program: Command, command: Command): void {
  const odd = program.options.find(({ long }) => isGiven(command, long) && !takes(command, long ?? ''));
  if (odd) throw new UsageError(`${odd.long} has no effect on ${nameOf(command)}: leave it out`);
}

function refuseContradictions(command: Command): void {
  for (const { option, other, because } of contradictions.get(command) ?? []) {
    if (!isGiven(command, option) || !isGiven(command, other)) continue;
    throw new UsageError(`${option} has no effect with ${other}: ${because}`);
  }
}

/** Whether an option, by its long name, was given for a command or for one above it. */
export function isGiven(command: Command, long: string | undefined): boolean {
  const option = command.options.find((each) => each.long === long);
  const isHere = option !== undefined && command.getOptionValueSource(option.attributeName()) === 'cli';
  return isHere || (command.parent !== null && isGiven(command.parent, long));
}

/** If an option is given twice, only the last value would count. */
function refuseRepeats(command: Command): void {
  const before = new Map<string, Option>();
  for (const option of command.options.filter((each) => !isList(each))) {
    command.on(`option:${option.name()}`, () => {
      const name = option.attributeName();
      const other = before.get(name);
      before.set(name, option);
      if (other === undefined) return;
      if (other !== option) throw new UsageError(`give ${other.long} or ${option.long}, not both`);
      if (option.required) throw new UsageError(`${option.long} is given twice`);
    });
  }
  for (const each of command.commands) refuseRepeats(each);
}

/** Options that may be repeated have their own parser; so have those with choices, which may not be repeated. */
const isList = ({ parseArg, argChoices }: Option) => parseArg !== undefined && argChoices === undefined;

/** `payhook payouts list`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
