import { groupsIn, type Node, testOf } from './expression-steps.ts';

/** Letters, digits, signs and blanks of several scripts, the most readable first. */
const CHARACTERS = [
  ...'a1 -.,:;/Z0_\'"(){}[]<>=+*?!@#$%&|~^`\\\t\n\r\0',
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'\u00a0\u202f\u2009\u2028\u200b\u200d\ufeff\u0301\u00e9\u00df\u2019\u20ac\u00a3\u00a5\u0430\u05d0\u0627\u5b57\u30ab\uff1d\ud83d\ude00',
];

/** A growing text: `start`, then `unit` repeated, then `end`. */
interface Growing {
  readonly start: string;
  readonly unit: string;
  readonly end: string;
}

/** The texts that may make a regular expression slow: built from its own sets, before and in its repetitions. */
export function hostileTexts(root: Node, source: string, flags: string): Growing[] {
  const sets = [...setsIn(root)].map((set) => testOf(set, flags));
  if (!hasRepetition(root)) return [];
  const own = [...new Set([...source])];
  const all = [...new Set([...CHARACTERS, ...own])];
  // one of the characters that the same sets match is enough
  const kinds = new Map<string, string>();
  for (const character of all) {
    const kind = sets.map((test) => (test(character) ? '1' : '0')).join('');
    if (!kinds.has(kind)) kinds.set(kind, character);
  }
  const taken = [...kinds].filter(([kind]) => kind.includes('1')).map(([, character]) => character);
  const ends = [...new Set(['', '\0', '\n', [...kinds].find(([kind]) => !kind.includes('1'))?.[1] ?? ''])];
  const texts: Growing[] = [];
  const starts = new Map<string, Set<string>>([['', new Set()]]);
  const example = exampleOf(flags, all, groupsIn(root));
  walk(root, '', example, (before, body) => {
    starts.set(before, (starts.get(before) ?? new Set()).add(body).add(body + body));
  });
  const pairs = taken.length > 6 ? [] : taken.flatMap((one) => taken.map((other) => one + other));
  const bodies = new Set([...starts.values()].flatMap((units) => [...units]));
  for (const start of starts.keys()) {
    for (const unit of new Set([...taken, ...pairs, ...bodies])) {
      if (unit !== '') for (const end of ends) texts.push({ start, unit, end });
    }
  }
  return texts;
}

function* setsIn(node: Node): Generator<string> {
  if (node.type === 'set') yield node.source;
  else if ('nodes' in node) for (const one of node.nodes) yield* setsIn(one);
  else if ('node' in node) yield* setsIn(node.node);
}

const isLong = (node: Node) => node.type === 'repeat' && node.most > 100;

function hasRepetition(node: Node): boolean {
  if (isLong(node)) return true;
  if ('nodes' in node) return node.nodes.some(hasRepetition);
  return 'node' in node && hasRepetition(node.node);
}

/** The shortest text that a part matches, judged by its sets. */
function exampleOf(
  flags: string,
  characters: readonly string[],
  groups: ReadonlyMap<number, Node>,
): (node: Node) => string {
  const known = new Map<string, string>();
  const example = (node: Node): string => {
    switch (node.type) {
      case 'set': {
        const before = known.get(node.source);
        if (before !== undefined) return before;
        const test = testOf(node.source, flags);
        const found = characters.find(test) ?? everyCharacter().find(test) ?? '';
        known.set(node.source, found);
        return found;
      }
      case 'sequence':
        return node.nodes.map(example).join('');
      case 'choice':
        return node.nodes.map(example).sort((a, b) => a.length - b.length)[0] ?? '';
      case 'group':
        return example(node.node);
      case 'reference': {
        const group = groups.get(node.index);
        return group ? example(group) : '';
      }
      case 'repeat':
        return example(node.node).repeat(Math.min(node.least, 100));
      default:
        return '';
    }
  };
  return example;
}

const everyCharacter = () => Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code));

/** Calls `at` for each long repetition, with a text that reaches it and a text of one round. */
function walk(
  node: Node,
  before: string,
  example: (node: Node) => string,
  at: (before: string, body: string) => void,
): void {
  if (node.type === 'sequence') {
    let reached = before;
    for (const one of node.nodes) {
      walk(one, reached, example, at);
      reached += example(one);
    }
  } else if (node.type === 'choice') for (const one of node.nodes) walk(one, before, example, at);
  else if (node.type === 'repeat') {
    if (isLong(node)) {
      for (const body of bodiesOf(node.node, example)) at(before, body);
    }
    walk(node.node, before, example, at);
  } else if ('node' in node) walk(node.node, before, example, at);
}

/** A round of a repetition, by each of its choices. */
function bodiesOf(node: Node, example: (node: Node) => string): string[] {
  if (node.type === 'group') return bodiesOf(node.node, example);
  return node.type === 'choice' ? node.nodes.map(example) : [example(node)];
}
