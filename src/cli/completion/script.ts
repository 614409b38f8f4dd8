import type { Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { commandTree } from './tree.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The completion script of a program for a shell. */
export function scriptOf(shell: keyof typeof SCRIPTS, program: Command): string {
  return SCRIPTS[shell](commandTree(program));
}
