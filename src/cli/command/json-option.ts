import { Failure } from '../../kernel/errors.ts';
import { readStrictJson, type StrictJson } from '../../kernel/strict-json.ts';
import { UsageError } from './errors.ts';

/** Reads the JSON of an option or of its file, like the server reads bodies. Throws UsageError that names it. */
export function readJsonOption(option: string, text: string): StrictJson {
  try {
    return readStrictJson(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { reason, message } = error;
    throw new UsageError(
      reason === 'invalid_json'
        ? `${option} is not JSON: ${message.replace(/^.*?: /, '')}`
        : `${option}: ${message}`,
    );
  }
}
