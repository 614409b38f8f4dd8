import { plain } from './plain.ts';

const SHOWN = 200;

/** A value of a filter or a payload as JSON, truncated if long. */
export function JsonValue({ children }: { children: unknown }) {
  const text = plain(JSON.stringify(children));
  return <code className="code-line">{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</code>;
}
