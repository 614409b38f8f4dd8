import { endOfString } from './strict-json.ts';

const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The texts of the members of a JSON object, which is valid, as they are written. Of equal keys the last one counts. */
export function membersOf(object: string): Map<string, string> {
  return new Map(
    partsOf(object).map((member) => {
      const end = endOfString(member, 0) + 1;
      const value = member.slice(member.indexOf(':', end) + 1).trim();
      return [JSON.parse(member.slice(0, end)) as string, value];
    }),
  );
}

/** The texts of the items of a JSON list, which is valid, as they are written. */
export function itemsOf(list: string): string[] {
  return partsOf(list);
}

/** What is between the commas of a list or an object. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) parts.push(text.slice(start, at).trim());
    } else if (code === COMMA && depth === 1) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}
