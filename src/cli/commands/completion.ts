import { Argument, type Command } from 'commander';
import type { Cli } from '../cli.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { commandTree } from '../completion/tree.ts';
import { zshScript } from '../completion/zsh.ts';
import { takesNo } from '../option-rules.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

const HELP = `
The script knows every command, option and choice of this version, and starts nothing while it completes. Print it again
after an update.

In this shell; in zsh after compinit, and with eval in the bash of macOS:
  $ source <(payhook completion bash)
  $ source <(payhook completion zsh)
  $ payhook completion fish | source
  $ eval "$(payhook completion bash)"

In every new shell:
  $ payhook completion bash > ~/.local/share/bash-completion/completions/payhook
  $ payhook completion zsh > "\${fpath[1]}/_payhook"
  $ payhook completion fish > ~/.config/fish/completions/payhook.fish

Who types npx payhook makes a function of that name first; the script completes it (in fish: function payhook):
  $ payhook() { npx payhook "$@"; }
`;

/** `payhook completion bash|zsh|fish`. */
export function addCompletion(program: Command, cli: Cli): void {
  takesNo(program.command('completion'), '--account', '--data-dir', '--env-file')
    .description('print a script that completes commands in a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(SCRIPTS)))
    .option('--json', 'print {shell, script}')
    .addHelpText('after', HELP)
    .action((shell: Shell) => cli.run(async () => print(cli, program, shell)));
}

function print({ terminal }: Cli, program: Command, shell: Shell): undefined {
  const script = SCRIPTS[shell](commandTree(program));
  terminal.result({ shell, script }, () => script);
}
