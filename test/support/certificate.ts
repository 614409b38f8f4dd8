import { generateKeyPairSync, sign } from 'node:crypto';

/** A private key and its certificate, PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

// Tags of DER (ITU-T X.690) that a certificate is made of.
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT = 0x06;
const UTF8 = 0x0c;
const TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;

const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const ALTERNATIVE_NAME = '551d11';

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

/**
 * A self-signed certificate for one host name (RFC 5280), created on each call, so that no key is in the repository.
 * `begins` and `ends` are written YYMMDDhhmmssZ.
 */
export function certificateFor(
  name: string,
  { begins = '200101000000Z', ends = '491231235959Z' } = {},
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const object = (hex: string) => der(OBJECT, Buffer.from(hex, 'hex'));
  const algorithm = der(SEQUENCE, object(ECDSA_WITH_SHA256));
  const who = der(SEQUENCE, der(SET, der(SEQUENCE, object(COMMON_NAME), der(UTF8, Buffer.from(name)))));
  const times = [begins, ends].map((time) => der(TIME, Buffer.from(time)));
  const names = der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from(name))));
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    algorithm,
    who,
    der(SEQUENCE, ...times),
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, object(ALTERNATIVE_NAME), names))),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = der(SEQUENCE, content, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
