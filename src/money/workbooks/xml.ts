import sax from 'sax';
import { WorkbookError } from './workbook-error.ts';

/** What a reader does at each element. Names are without their prefix; attributes keep it. */
export interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Only the five entities of XML, none of HTML; a document type is refused, and so custom entities are too. */
const OPTIONS: sax.SAXOptions & { strictEntities: true } = { strictEntities: true };
const DEEPEST = 100;

/** Reads XML (1.0) piece by piece. Throws WorkbookError when it is not well-formed. */
export async function readXml(pieces: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
  const parser = sax.parser(true, OPTIONS);
  let depth = 0;
  parser.onerror = () => {
    throw damaged();
  };
  parser.ondoctype = () => {
    throw damaged();
  };
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > DEEPEST) throw damaged();
    handler.open(local(name), attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handler.close?.(local(name));
  };
  const onText = (text: string) => handler.text?.(text);
  parser.ontext = onText;
  parser.oncdata = onText;
  for await (const piece of pieces) parser.write(piece);
  parser.close();
}

const damaged = () =>
  new WorkbookError('the workbook contains invalid XML: it is damaged. Save it again and send it again');

const local = (name: string) => name.slice(name.indexOf(':') + 1);
