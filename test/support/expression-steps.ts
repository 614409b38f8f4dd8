/**
 * A backtracking matcher that counts its steps. A backtracking engine such as V8's needs about as many, so this
 * measures the cost of a regular expression without a clock.
 */

/** A part of a regular expression. */
export type Node =
  | { readonly type: 'set'; readonly source: string }
  | { readonly type: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly type: 'choice'; readonly nodes: readonly Node[] }
  | { readonly type: 'group'; readonly node: Node; readonly index: number | null }
  | { readonly type: 'look'; readonly node: Node; readonly isBehind: boolean; readonly isNegative: boolean }
  | { readonly type: 'edge'; readonly kind: '^' | '$' | 'b' | 'B' }
  | { readonly type: 'reference'; readonly index: number }
  | {
      readonly type: 'repeat';
      readonly node: Node;
      readonly least: number;
      readonly most: number;
      readonly isLazy: boolean;
    };

/** Parses the source of a regular expression that the engine accepts (ECMA-262, section 22.2.1). */
export function parseExpression(source: string): Node {
  let at = 0;
  let groups = 0;
  const names = new Map<string, number>();
  const named = [...source.matchAll(/\((?!\?)|\(\?<([A-Za-z_]\w*)>/g)];
  for (const [index, [, name]] of named.entries()) if (name) names.set(name, index + 1);

  const choice = (): Node => {
    const nodes = [sequence()];
    while (source[at] === '|') {
      at += 1;
      nodes.push(sequence());
    }
    return nodes.length === 1 ? (nodes[0] as Node) : { type: 'choice', nodes };
  };
  const sequence = (): Node => {
    const nodes: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') nodes.push(repeated(atom()));
    return { type: 'sequence', nodes };
  };
  const repeated = (node: Node): Node => {
    const rest = source.slice(at);
    const [mark] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(rest) ?? [];
    if (mark === undefined) return node;
    at += mark.length;
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)/.exec(mark) ?? [];
    const open = Number.POSITIVE_INFINITY;
    const range: readonly [number, number] =
      least !== undefined
        ? [Number(least), comma ? (most ? Number(most) : open) : Number(least)]
        : mark[0] === '?'
          ? [0, 1]
          : [mark[0] === '+' ? 1 : 0, open];
    return { type: 'repeat', node, least: range[0], most: range[1], isLazy: /.\?$/.test(mark) };
  };
  const set = (length: number): Node => {
    at += length;
    return { type: 'set', source: source.slice(at - length, at) };
  };
  const within = (opening: number, make: (node: Node) => Node): Node => {
    at += opening;
    const node = choice();
    at += 1;
    return make(node);
  };
  const group = (): Node => {
    const [look, behind, sign] = /^\(\?(<)?([=!])/.exec(source.slice(at)) ?? [];
    if (look !== undefined) {
      return within(look.length, (node) => ({
        type: 'look',
        node,
        isBehind: behind !== undefined,
        isNegative: sign === '!',
      }));
    }
    if (source.startsWith('(?:', at)) return within(3, (node) => ({ type: 'group', node, index: null }));
    const [opening = '('] = /^\(\?<\w+>/.exec(source.slice(at)) ?? [];
    groups += 1;
    const index = groups;
    return within(opening.length, (node) => ({ type: 'group', node, index }));
  };
  const escaped = (): Node => {
    const next = source[at + 1] ?? '';
    if (next === 'b' || next === 'B') {
      at += 2;
      return { type: 'edge', kind: next };
    }
    const [reference, number, name] = /^\\(?:([1-9]\d*)|k<(\w+)>)/.exec(source.slice(at)) ?? [];
    if (reference !== undefined) {
      at += reference.length;
      return { type: 'reference', index: number ? Number(number) : (names.get(name ?? '') ?? 0) };
    }
    const [long] =
      /^\\(?:u\{[^}]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]+\}|c[A-Za-z])/.exec(source.slice(at)) ?? [];
    return set(long?.length ?? 2);
  };
  const atom = (): Node => {
    const first = source[at];
    if (first === '(') return group();
    if (first === '\\') return escaped();
    if (first === '^' || first === '$') {
      at += 1;
      return { type: 'edge', kind: first };
    }
    if (first !== '[') return set(String.fromCodePoint(source.codePointAt(at) ?? 0).length);
    let end = at + 1;
    while (source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
    return set(end + 1 - at);
  };
  return choice();
}

type Test = (character: string) => boolean;

/** Whether a set matches a character; asks the engine once per character. */
export function testOf(source: string, flags: string): Test {
  const expression = new RegExp(`^(?:${source})$`, flags.replaceAll(/[gymd]/g, ''));
  const known = new Map<string, boolean>();
  return (character) => {
    const before = known.get(character);
    if (before !== undefined) return before;
    const isTaken = expression.test(character);
    known.set(character, isTaken);
    return isTaken;
  };
}

type Instruction =
  | { readonly op: 'take'; readonly test: Test; readonly by: 1 | -1 }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'moved'; readonly slot: number }
  | { readonly op: 'edge'; readonly kind: '^' | '$' | 'b' | 'B' }
  | { readonly op: 'reference'; readonly index: number; readonly by: 1 | -1 }
  | { readonly op: 'look'; readonly program: readonly Instruction[]; readonly isNegative: boolean }
  | { readonly op: 'done' };

/** A regular expression as instructions for the matcher. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly flags: string;
}

/** A repetition above this count is treated as unlimited. */
const MOST_COPIES = 300;

/** Compiles a parsed regular expression. */
export function compileExpression(root: Node, flags: string): Program {
  // the slots of empty repetitions follow those of the groups
  let slots = 2 * groupsIn(root).size + 1;
  const compile = (start: Node, by: 1 | -1): Instruction[] => {
    const out: Instruction[] = [];
    const fork = (isLazy: boolean) => {
      const split = { op: 'split' as const, first: 0, second: 0 };
      out.push(split);
      const into = out.length;
      return (after: number) => {
        split.first = isLazy ? after : into;
        split.second = isLazy ? into : after;
      };
    };
    const emit = (node: Node): void => {
      switch (node.type) {
        case 'set':
          out.push({ op: 'take', test: testOf(node.source, flags), by });
          return;
        case 'edge':
          out.push({ op: 'edge', kind: node.kind });
          return;
        case 'reference':
          out.push({ op: 'reference', index: node.index, by });
          return;
        case 'sequence':
          for (const one of by === 1 ? node.nodes : [...node.nodes].reverse()) emit(one);
          return;
        case 'group':
          if (node.index === null) emit(node.node);
          else {
            out.push({ op: 'save', slot: node.index * 2 + (by === 1 ? 0 : 1) });
            emit(node.node);
            out.push({ op: 'save', slot: node.index * 2 + (by === 1 ? 1 : 0) });
          }
          return;
        case 'look':
          out.push({
            op: 'look',
            program: compile(node.node, node.isBehind ? -1 : 1),
            isNegative: node.isNegative,
          });
          return;
        case 'choice': {
          const ends: { op: 'jump'; to: number }[] = [];
          for (const [index, one] of node.nodes.entries()) {
            const close = index < node.nodes.length - 1 ? fork(false) : undefined;
            emit(one);
            if (close === undefined) break;
            const end = { op: 'jump' as const, to: 0 };
            ends.push(end);
            out.push(end);
            close(out.length);
          }
          for (const end of ends) end.to = out.length;
          return;
        }
        case 'repeat': {
          for (let copy = 0; copy < Math.min(node.least, MOST_COPIES); copy += 1) emit(node.node);
          if (node.most - node.least > MOST_COPIES) {
            const top = out.length;
            const close = fork(node.isLazy);
            slots += 1;
            const slot = slots;
            out.push({ op: 'save', slot });
            emit(node.node);
            out.push({ op: 'moved', slot }, { op: 'jump', to: top });
            close(out.length);
            return;
          }
          const closes: ((after: number) => void)[] = [];
          for (let copy = node.least; copy < node.most; copy += 1) {
            closes.push(fork(node.isLazy));
            emit(node.node);
          }
          for (const close of closes) close(out.length);
        }
      }
    };
    emit(start);
    out.push({ op: 'done' });
    return out;
  };
  return { instructions: compile(root, 1), flags };
}

/** The groups of a regular expression by number. */
export function groupsIn(node: Node, found = new Map<number, Node>()): Map<number, Node> {
  if (node.type === 'group' && node.index !== null) found.set(node.index, node.node);
  if ('nodes' in node) for (const one of node.nodes) groupsIn(one, found);
  else if ('node' in node) groupsIn(node.node, found);
  return found;
}

/** Thrown by `countSteps` at the limit. */
export class TooManySteps extends Error {}

type Slots = readonly (number | undefined)[];

/**
 * The number of steps to find all matches in a text (only the first without the flag `g`). Throws TooManySteps beyond
 * `limit`.
 */
export function countSteps({ instructions, flags }: Program, text: string, limit: number): number {
  const characters = flags.includes('u') ? [...text] : text.split('');
  const isMultiline = flags.includes('m');
  const isWord = (at: number) => /^\w$/.test(characters[at] ?? '');
  const isBreak = (at: number) => /^[\n\r\u2028\u2029]$/.test(characters[at] ?? '');
  let steps = 0;

  const holds = (kind: '^' | '$' | 'b' | 'B', at: number): boolean => {
    if (kind === '^') return at === 0 || (isMultiline && isBreak(at - 1));
    if (kind === '$') return at === characters.length || (isMultiline && isBreak(at));
    return (isWord(at - 1) !== isWord(at)) === (kind === 'b');
  };
  const referred = (slots: Slots, index: number, at: number, by: 1 | -1): number | null => {
    const [start, end] = [slots[index * 2], slots[index * 2 + 1]];
    if (start === undefined || end === undefined) return at;
    for (let offset = 0; offset < end - start; offset += 1) {
      steps += 1;
      const [wanted, found] = by === 1 ? [start + offset, at + offset] : [end - 1 - offset, at - 1 - offset];
      if (characters[wanted] !== characters[found]) return null;
    }
    return at + by * (end - start);
  };

  /** The end of a match that begins at a position, with its groups; null without a match. */
  const run = (
    program: readonly Instruction[],
    from: number,
    known: Slots,
  ): { at: number; slots: Slots } | null => {
    const waiting: { place: number; at: number; slots: Slots }[] = [];
    let [place, at, slots] = [0, from, known];
    for (;;) {
      steps += 1;
      if (steps > limit) throw new TooManySteps();
      const instruction = program[place] as Instruction;
      let isGood = true;
      place += 1;
      switch (instruction.op) {
        case 'take': {
          const character = characters[instruction.by === 1 ? at : at - 1];
          isGood = character !== undefined && instruction.test(character);
          at += instruction.by;
          break;
        }
        case 'split':
          waiting.push({ place: instruction.second, at, slots });
          place = instruction.first;
          break;
        case 'jump':
          place = instruction.to;
          break;
        case 'save': {
          const next = slots.slice();
          next[instruction.slot] = at;
          slots = next;
          break;
        }
        case 'moved':
          isGood = slots[instruction.slot] !== at;
          break;
        case 'edge':
          isGood = holds(instruction.kind, at);
          break;
        case 'reference': {
          const after = referred(slots, instruction.index, at, instruction.by);
          isGood = after !== null;
          at = after ?? at;
          break;
        }
        case 'look': {
          const found = run(instruction.program, at, slots);
          isGood = (found !== null) !== instruction.isNegative;
          if (found !== null && !instruction.isNegative) slots = found.slots;
          break;
        }
        case 'done':
          return { at, slots };
      }
      if (isGood) continue;
      const other = waiting.pop();
      if (other === undefined) return null;
      ({ place, at, slots } = other);
    }
  };

  const isAnchored = instructions[0]?.op === 'edge' && instructions[0].kind === '^' && !isMultiline;
  for (let start = 0; start <= characters.length; ) {
    const match = run(instructions, start, []);
    if (match === null) {
      if (isAnchored || flags.includes('y')) break;
      start += 1;
    } else {
      if (!flags.includes('g')) break;
      start = Math.max(match.at, start + 1);
    }
  }
  return steps;
}
