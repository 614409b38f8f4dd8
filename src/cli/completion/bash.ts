import type { CommandNode, Expected } from './tree.ts';
import { singleQuoted, wordsOf } from './words.ts';

// Works in bash 3.2 of macOS: no associative arrays, no mapfile, and compopt may be missing.
const FUNCTION = `
# The suggestions for a value: nothing, "file", "text", or the words to choose from.
_payhook_offer() {
  local offer=$1 part=$2 prefix=$3 found
  case $offer in
    file)
      compopt -o filenames 2>/dev/null
      while IFS= read -r found; do COMPREPLY+=("$prefix$found"); done < <(compgen -f -- "$part")
      ;;
    '' | text) ;;
    *)
      while IFS= read -r found; do COMPREPLY+=("$prefix$found"); done < <(compgen -W "$offer" -- "$part")
      ;;
  esac
}

_payhook() {
  local words=() word path= value= position=0 glue= ended= index prefix=
  local subcommands options arguments
  COMPREPLY=()
  # readline splits at = and :, which belong to the word here
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == [=:] || $glue ]] && ((\${#words[@]})); then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    glue=
    [[ $word == [=:] ]] && glue=1
  done
  _payhook_command ''
  for ((index = 0; index < \${#words[@]} - 1; index++)); do
    word=\${words[index]}
    if [[ $value ]]; then
      value=
    elif [[ $ended ]]; then
      ((position++))
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      [[ $word == *=* ]] || _payhook_value "$path" "$word"
    elif [[ " $subcommands " == *" $word "* ]]; then
      path=\${path:+$path }$word
      _payhook_command "$path"
    else
      ((position++))
    fi
  done
  ((\${#words[@]})) || return
  word=\${words[\${#words[@]} - 1]}
  if [[ $value ]]; then
    _payhook_offer "$value" "$word"
  elif [[ ! $ended && $word == --*=* ]]; then
    _payhook_value "$path" "\${word%%=*}"
    [[ $COMP_WORDBREAKS == *=* ]] || prefix=\${word%%=*}=
    _payhook_offer "$value" "\${word#*=}" "$prefix"
  elif [[ ! $ended && $word == -* ]]; then
    _payhook_offer "$options" "$word"
  elif [[ $subcommands ]]; then
    _payhook_offer "$subcommands" "$word"
  else
    _payhook_offer "\${arguments[position]}" "$word"
  fi
}

complete -F _payhook payhook
`;

/** The script for bash. */
export function bashScript(tree: readonly CommandNode[]): string {
  const commands = tree.map(
    (node) =>
      `    ${singleQuoted(node.path)})\n` +
      `      subcommands=${singleQuoted(wordsOf(node.children.map(({ name }) => name)))}\n` +
      `      options=${singleQuoted(wordsOf(node.options.flatMap(({ flags }) => flags)))}\n` +
      `      arguments=(${node.arguments.map(offer).join(' ')})\n      ;;\n`,
  );
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === null
        ? []
        : flags.map((flag) => `    ${singleQuoted(`${path} ${flag}`)}) value=${offer(value)} ;;\n`),
    ),
  );
  return `# The words that can follow a command.
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

function offer(expected: Expected): string {
  return singleQuoted(expected.kind === 'words' ? wordsOf(expected.words) : expected.kind);
}
