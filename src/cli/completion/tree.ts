import type { Argument, Command, Option } from 'commander';

/** The kind of a value: a file name, one of some words, or any text. */
export type Expected =
  | { readonly kind: 'file' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'text' };

/** An option and its flags. */
export interface OptionNode {
  /** `--output` and `-o`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Its value; null if it takes none. */
  readonly value: Expected | null;
}

/** A command with its arguments, options and subcommands. */
export interface CommandNode {
  /** The words after `payhook`: `payouts export`; empty for the program itself. */
  readonly path: string;
  readonly children: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  readonly arguments: readonly Expected[];
}

/** A command and all its descendants, parents first. Options of the program are options of each command. */
export function commandTree(command: Command, path = ''): CommandNode[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  const node: CommandNode = {
    path,
    children: children.map((child) => ({ name: child.name(), description: child.description() })),
    options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map(optionNode),
    arguments: command.registeredArguments.map(expectedOf),
  };
  const below = children.flatMap((child) =>
    child.name() === 'help'
      ? [helpNode(child, path, children)]
      : commandTree(child, `${path} ${child.name()}`.trim()),
  );
  return [node, ...below];
}

/** `help` takes the names of its sibling commands. */
function helpNode(help: Command, path: string, siblings: readonly Command[]): CommandNode {
  const words = siblings.map((command) => command.name()).filter((name) => name !== help.name());
  const named: Expected = { kind: 'words', words };
  return { path: `${path} ${help.name()}`.trim(), children: [], options: [], arguments: [named] };
}

function optionNode(option: Option): OptionNode {
  const { short, long, description, required, optional } = option;
  return {
    flags: [long, short].filter((flag) => flag !== undefined),
    description,
    value: required || optional ? expectedBy(valueName(option), option.argChoices) : null,
  };
}

const valueName = ({ flags }: Option) => /[<[]([^<>[\]]+)[>\]]/.exec(flags)?.[1] ?? '';

const expectedOf = (argument: Argument): Expected => expectedBy(argument.name(), argument.argChoices);

/** Suggestions by the name of a value: `<file>` is a file, `<payout>` is usually the unpaid one. */
function expectedBy(name: string, choices: readonly string[] | undefined): Expected {
  if (choices !== undefined) return { kind: 'words', words: choices };
  if (name === 'file') return { kind: 'file' };
  return name === 'payout' ? { kind: 'words', words: ['current'] } : { kind: 'text' };
}
