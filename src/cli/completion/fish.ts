import type { CommandNode, Expected, OptionNode } from './tree.ts';
import { wordsOf } from './words.ts';

const FUNCTION = `# Whether the words typed so far name this command; with a number, whether it has that many arguments.
function __payhook_at --argument-names place arguments
    set --local typed
    set --local skip 0
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..-1]
        if test $skip -eq 1
            set skip 0
        else if __payhook_takes_value $word
            set skip 1
        else if not string match --quiet -- '-*' $word
            set --append typed $word
        end
    end
    set --local wanted (string split --no-empty ' ' -- $place)
    set --local depth (count $wanted)
    if test $depth -gt 0
        test (count $typed) -ge $depth; or return 1
        test "$typed[1..$depth]" = "$wanted"; or return 1
    end
    test -z "$arguments"; and return 0
    test (math (count $typed) - $depth) -eq $arguments
end
`;

/** The script for fish. */
export function fishScript(tree: readonly CommandNode[]): string {
  const flags = tree.flatMap(({ options }) =>
    options.flatMap((option) => (option.value === null ? [] : option.flags)),
  );
  const lines = tree.flatMap(linesOf);
  return `# Whether a word is an option that takes a value.
function __payhook_takes_value --argument-names word
    contains -- $word ${wordsOf([...new Set(flags)])}
end

${FUNCTION}
complete --command payhook --erase
complete --command payhook --no-files
${lines.join('\n')}
`;
}

function linesOf(node: CommandNode): string[] {
  const at = (position: string) => condition(node.path, position);
  const children = node.children.map(
    ({ name, description }) =>
      `complete -c payhook ${at('0')} -a ${wordsOf([name])} -d ${quoted(description)}`,
  );
  const options = node.options.map(
    (option) =>
      `complete -c payhook ${at(node.children.length > 0 ? '0' : '')} ${flagsOf(option)} -d ${quoted(option.description)}`,
  );
  const given = node.arguments.flatMap((expected, index) => {
    const text = offerOf(expected);
    return text === '' ? [] : [`complete -c payhook ${at(String(index))} ${text}`];
  });
  return [...children, ...options, ...given];
}

function condition(path: string, position: string): string {
  return `-n ${quoted(`__payhook_at '${path}' ${position}`.trim())}`;
}

function flagsOf({ flags, value }: OptionNode): string {
  const named = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  if (value === null) return named.join(' ');
  return [...named, value.kind === 'file' ? '-r -F' : `-x ${offerOf(value)}`.trim()].join(' ');
}

function offerOf(expected: Expected): string {
  if (expected.kind === 'file') return '-F';
  return expected.kind === 'words' ? `-a ${quoted(wordsOf(expected.words))}` : '';
}

/** A text in single quotes, as fish reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
