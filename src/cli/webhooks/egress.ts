import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../client/client.ts';
import { unreadable } from '../../kernel/unreadable.ts';
import { UsageError } from '../command/errors.ts';
import type { SecretReader } from '../command/secret-option.ts';
import { exactTime } from '../terminal/time.ts';

/** How requests leave for an endpoint, as it is typed. */
export interface EgressOptions {
  readonly proxy?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly tokenUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly tokenScope?: string;
  readonly tokenAudience?: string;
  readonly tokenAuthentication?: string;
}

/** Adds the options of these fields. */
export function withEgressFields(command: Command): Command {
  return command
    .option(
      '--proxy <url>',
      'send through this HTTP proxy, such as http://user:password@proxy:3128, as @file or - (standard input); none = no proxy of its own',
    )
    .option(
      '--client-certificate <file>',
      'show this certificate to the receiver (mTLS): PEM, with those that issued it; none = no certificate',
    )
    .option('--client-key <file>', 'its private key: PEM; left out, it is in the same file')
    .option(
      '--token-url <url>',
      'send along an access token from this token endpoint (OAuth 2 client credentials); none = no token',
    )
    .option('--client-id <id>', 'with --token-url: the client')
    .option(
      '--client-secret <secret>',
      'with --token-url: its secret, as @file or - (standard input); left out, it stays with URL and client',
    )
    .option('--token-scope <names>', 'with --token-url: scopes to ask for, separated by spaces')
    .option('--token-audience <audience>', 'with --token-url: the audience to ask for')
    .option(
      '--token-authentication <how>',
      'with --token-url: send client and secret as basic (in the header, the default) or body',
    );
}

/** The fields as the API takes them. Throws a UsageError that names the option. */
export async function readEgressFields(
  { proxy, clientCertificate, clientKey, ...credentials }: EgressOptions,
  secrets: SecretReader,
): Promise<Pick<ChangeWebhookEndpointBody, 'proxy' | 'client_certificate' | 'client_credentials'>> {
  return {
    proxy: proxy === undefined ? undefined : proxy === 'none' ? null : await secrets.one('--proxy', proxy),
    client_certificate: readCertificate(clientCertificate, clientKey),
    client_credentials: await readCredentials(credentials, secrets),
  };
}

type Credentials = ChangeWebhookEndpointBody['client_credentials'];

async function readCredentials(
  { tokenUrl, clientId, clientSecret, tokenScope, tokenAudience, tokenAuthentication }: EgressOptions,
  secrets: SecretReader,
): Promise<Credentials> {
  if (tokenUrl === undefined || tokenUrl === 'none') {
    const others = [clientId, clientSecret, tokenScope, tokenAudience, tokenAuthentication];
    if (others.some((value) => value !== undefined))
      throw new UsageError('--client-id, --client-secret and --token-… belong to --token-url <url>');
    return tokenUrl === undefined ? undefined : null;
  }
  if (clientId === undefined) throw new UsageError('--token-url needs --client-id <id>');
  return {
    token_url: tokenUrl,
    client_id: clientId,
    client_secret:
      clientSecret === undefined ? undefined : await secrets.one('--client-secret', clientSecret),
    scope: tokenScope,
    audience: tokenAudience,
    // the server judges the word, and names the rule
    authentication: tokenAuthentication as NonNullable<Credentials>['authentication'],
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
    throw new UsageError(`${option}: ${unreadable(path, error)}`);
  }
}

/** The lines about it in the description of an endpoint; null = there is nothing to say. */
export function egressFacts({
  proxy,
  client_certificate: certificate,
  client_credentials: credentials,
}: WebhookEndpoint): (readonly [string, string | null])[] {
  return [
    ['Proxy', proxy],
    [
      'Client certificate',
      certificate && `${certificate.subject}, until ${exactTime(certificate.expires_at)}`,
    ],
    ['Access token', credentials && `for ${credentials.client_id}, from ${credentials.token_url}`],
  ];
}
