import { Argument, type Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { takesNo } from '../command/option-rules.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
The script contains every command, option and choice of this version, so completing starts no program. Print it again after an
update.

In this shell; in zsh after compinit, and with eval in the bash of macOS:
  $ source <(payhook completion bash)
  $ source <(payhook completion zsh)
  $ payhook completion fish | source
  $ eval "$(payhook completion bash)"

In every new shell:
  $ payhook completion bash > ~/.local/share/bash-completion/completions/payhook
  $ payhook completion zsh > "\${fpath[1]}/_payhook"
  $ payhook completion fish > ~/.config/fish/completions/payhook.fish

If you use npx payhook, define a function with that name first, which the script completes (in fish: function payhook):
  $ payhook() { npx payhook "$@"; }
`;

/** `payhook completion bash|zsh|fish`. */
export function addCompletion(program: Command, cli: Cli): void {
  takesNo(program.command('completion'), '--account', '--data-dir', '--env-file')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .option('--json', 'print {shell, script}')
    .addHelpText('after', HELP)
    .action((shell: Shell) => cli.run(() => print(cli, program, shell)));
}

async function print({ terminal }: Cli, program: Command, shell: Shell): Promise<undefined> {
  const { scriptOf } = await import('./script.ts');
  const script = scriptOf(shell, program);
  terminal.result({ shell, script }, () => script);
}
