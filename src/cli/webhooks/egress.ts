import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../client/client.ts';
import { UsageError } from '../command/errors.ts';
import { exactTime } from '../terminal/time.ts';

/** How requests leave for an endpoint, as it is typed. */
export interface EgressOptions {
  readonly proxy?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

/** Adds the options of these fields. */
export function withEgressFields(command: Command): Command {
  return command
    .option(
      '--proxy <url>',
      'send through this HTTP proxy: http://user:password@proxy:3128; none = no proxy of its own',
    )
    .option(
      '--client-certificate <file>',
      'show this certificate to the receiver (mTLS): PEM, with those that issued it; none = no certificate',
    )
    .option('--client-key <file>', 'its private key: PEM; left out, it is in the same file');
}

/** The fields as the API takes them. Throws a UsageError that names the option. */
export function readEgressFields({
  proxy,
  clientCertificate,
  clientKey,
}: EgressOptions): Pick<ChangeWebhookEndpointBody, 'proxy' | 'client_certificate'> {
  return {
    proxy: proxy === 'none' ? null : proxy,
    client_certificate: readCertificate(clientCertificate, clientKey),
  };
}

function readCertificate(
  certificate: string | undefined,
  key: string | undefined,
): ChangeWebhookEndpointBody['client_certificate'] {
  if (certificate === undefined || certificate === 'none') {
    if (key !== undefined) throw new UsageError('--client-key belongs to --client-certificate <file>');
    return certificate === undefined ? undefined : null;
  }
  const text = readText('--client-certificate', certificate);
  return { certificate: text, key: key === undefined ? text : readText('--client-key', key) };
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`);
  }
}

/** The lines about it in the description of an endpoint; null = there is nothing to say. */
export function egressFacts({
  proxy,
  client_certificate: certificate,
}: WebhookEndpoint): (readonly [string, string | null])[] {
  return [
    ['Proxy', proxy],
    [
      'Client certificate',
      certificate && `${certificate.subject}, until ${exactTime(certificate.expires_at)}`,
    ],
  ];
}
