import type { CommandNode, Expected } from './tree.ts';
import { singleQuoted, wordsOf } from './words.ts';

const FUNCTION = `
# The suggestions for a value: nothing, "file", "text", or the words to choose from.
_payhook_offer() {
  case $1 in
    file) _files ;;
    text | '') _message 'no suggestions' ;;
    *) compadd -- \${=1} ;;
  esac
}

_payhook() {
  local word place= value= ended=
  local -i position=1 index
  local -a subcommands flags arguments
  _payhook_command ''
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    if [[ -n $value ]]; then
      value=
    elif [[ -n $ended ]]; then
      position+=1
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      [[ $word == *=* ]] || _payhook_value "$place" "$word"
    elif [[ -n \${(M)subcommands:#\${word}:*} ]]; then
      place=\${place:+$place }$word
      _payhook_command "$place"
    else
      position+=1
    fi
  done
  word=\${words[CURRENT]}
  if [[ -n $value ]]; then
    _payhook_offer "$value"
  elif [[ -z $ended && $word == --*=* ]]; then
    _payhook_value "$place" "\${word%%=*}"
    compset -P '*='
    _payhook_offer "$value"
  elif [[ -z $ended && $word == -* ]]; then
    _describe -o option flags
  elif (( \${#subcommands} )); then
    _describe command subcommands
  else
    _payhook_offer "\${arguments[position]}"
  fi
}

if [[ \${funcstack[1]-} == _payhook ]]; then
  _payhook "$@"
else
  compdef _payhook payhook
fi
`;

/** The script for zsh: source it, or save it as _payhook in a folder of $fpath. */
export function zshScript(tree: readonly CommandNode[]): string {
  const commands = tree.map(
    (node) =>
      `    ${singleQuoted(node.path)})\n` +
      `      subcommands=(${node.children.map(({ name, description }) => described(name, description)).join(' ')})\n` +
      `      flags=(${node.options.flatMap(({ flags, description }) => flags.map((flag) => described(flag, description))).join(' ')})\n` +
      `      arguments=(${node.arguments.map(offer).join(' ')})\n      ;;\n`,
  );
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === null
        ? []
        : flags.map((flag) => `    ${singleQuoted(`${path} ${flag}`)}) value=${offer(value)} ;;\n`),
    ),
  );
  return `#compdef payhook

# What can follow a command, with what each is for.
_payhook_command() {
  case $1 in
${commands.join('')}  esac
}

# The value of an option, if it takes one.
_payhook_value() {
  case "$1 $2" in
${values.join('')}  esac
}
${FUNCTION}`;
}

/** `name:description` for _describe. */
function described(name: string, description: string): string {
  return singleQuoted(`${wordsOf([name]).replaceAll(':', '\\:')}:${description}`);
}

function offer(expected: Expected): string {
  return singleQuoted(expected.kind === 'words' ? wordsOf(expected.words) : expected.kind);
}
