import { type Call, type OperationId, requestOf } from '../data/api.ts';
import { common } from '../texts/common.ts';
import { IconButton } from './button.tsx';
import { toast } from './toast.tsx';

/** Copies a text to the clipboard and says so. */
export function copyText(text: string, message: string = common.copied): void {
  // the clipboard is not available without https
  const write = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
  void write.then(
    () => toast(message),
    () => window.prompt(common.copy, text),
  );
}

const SHORT = 16;

/** An id with a button to copy it. */
export function Id({ children }: { children: string }) {
  return (
    <span className={children.length > SHORT ? 'id long' : 'id'}>
      <code>{children}</code>
      <IconButton icon="copy" label={common.copyId(children)} onPress={() => copyText(children)} />
    </span>
  );
}

/** A command to type, with a button to copy it. */
export function Command({ children }: { children: string }) {
  return (
    <span className="command">
      <code>{children}</code>
      <IconButton icon="copy" label={common.copyId(children)} onPress={() => copyText(children)} />
    </span>
  );
}

/** The request of a list or an action as a curl command. */
export function curlOf(id: OperationId, input: Call): string {
  const { method, address } = requestOf(id, input);
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    quoted(window.location.origin + address),
    '-H "Authorization: Bearer $PAYHOOK_API_KEY"',
    ...(method === 'GET' || method === 'DELETE' ? [] : ['-H "Idempotency-Key: $(uuidgen)"']),
    ...(input.ifMatch === undefined ? [] : [`-H 'If-Match: "${input.ifMatch}"'`]),
    ...(input.body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(input.body))}`]),
  ];
  return parts.join(' ');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Copies the request behind what is on screen as a curl command. */
export function copyCurl(id: OperationId, input: Call): void {
  copyText(curlOf(id, input), common.copiedCurl);
}
