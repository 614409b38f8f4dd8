import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'vite';

/** A regular expression of the program, and its location. */
export interface FoundExpression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

type Tree = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && typeof (value as Tree).type === 'string';

/**
 * Every regular expression in the source files under some folders: the literals, and those that `RegExp` builds from
 * texts in the source. The others are returned as `unknown`, such as `src/a.ts: new RegExp(text)`.
 */
export function expressionsIn(folders: readonly string[]): {
  readonly found: readonly FoundExpression[];
  readonly unknown: readonly string[];
} {
  const found: FoundExpression[] = [];
  const unknown: string[] = [];
  for (const file of folders.flatMap(sourcesIn)) {
    const text = readFileSync(file, 'utf8');
    for (const node of nodesOf(treeOf(file))) {
      const regex = node.type === 'Literal' && (node.regex as { pattern: string; flags: string } | undefined);
      if (regex) found.push({ file, source: regex.pattern, flags: regex.flags });
      if (!isConstructor(node)) continue;
      const [source, flags] = (node.arguments as Tree[]).map((argument) => textOf(argument, file));
      const isPlain = (node.arguments as Tree[]).length === 1;
      if (typeof source === 'string' && (isPlain || typeof flags === 'string')) {
        found.push({ file, source, flags: flags ?? '' });
      } else unknown.push(`${file}: ${text.slice(node.start, node.end as number).replaceAll(/\s+/g, ' ')}`);
    }
  }
  return { found, unknown };
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(?:test|d)\.ts$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

const trees = new Map<string, Tree>();

function treeOf(file: string): Tree {
  const known = trees.get(file);
  if (known) return known;
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const tree = program as unknown as Tree;
  trees.set(file, tree);
  return tree;
}

function* nodesOf(tree: Tree): Generator<Tree> {
  yield tree;
  for (const value of Object.values(tree)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isTree(one)) yield* nodesOf(one);
  }
}

const isConstructor = ({ type, callee }: Tree) =>
  (type === 'NewExpression' || type === 'CallExpression') && (callee as Tree).name === 'RegExp';

/** The text of an expression in the source; undefined when it is known only at run time. */
function textOf(node: Tree, file: string): string | undefined {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : undefined;
    case 'TemplateLiteral':
      return filled(node, 'cooked', file);
    case 'TaggedTemplateExpression': {
      const { object, property } = node.tag as Record<'object' | 'property', Tree | undefined>;
      const isRaw = object?.name === 'String' && property?.name === 'raw';
      return isRaw ? filled(node.quasi as Tree, 'raw', file) : undefined;
    }
    case 'BinaryExpression': {
      const [left, right] = [textOf(node.left as Tree, file), textOf(node.right as Tree, file)];
      return node.operator === '+' && left !== undefined && right !== undefined ? left + right : undefined;
    }
    case 'Identifier':
      return constant(String(node.name), file);
    default:
      return undefined;
  }
}

function filled({ quasis, expressions }: Tree, form: 'cooked' | 'raw', file: string): string | undefined {
  const values = (expressions as Tree[]).map((one) => textOf(one, file));
  if (values.includes(undefined)) return undefined;
  return (quasis as { value: Record<string, string> }[])
    .map(({ value }, index) => value[form] + (values[index] ?? ''))
    .join('');
}

/** The text of a constant of a file, its own or imported. */
function constant(name: string, file: string): string | undefined {
  for (const node of nodesOf(treeOf(file))) {
    if (node.type === 'VariableDeclarator' && (node.id as Tree).name === name && isTree(node.init))
      return textOf(node.init, file);
    if (node.type !== 'ImportDeclaration') continue;
    const from = String((node.source as Tree).value);
    const one = (node.specifiers as Tree[]).find(({ local }) => (local as Tree).name === name);
    if (one && from.startsWith('.'))
      return constant(String((one.imported as Tree | undefined)?.name), resolve(dirname(file), from));
  }
  return undefined;
}
