import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../client/client.ts';
import { unreadable } from '../../kernel/unreadable.ts';
import { UsageError } from '../command/errors.ts';
import type { SecretReader } from '../command/secret-option.ts';
import { exactTime } from '../terminal/time.ts';

/** The proxy, client certificate and client credentials of an endpoint, as typed. */
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
      'send through this HTTP proxy, such as http://user:password@proxy:3128, as @file or - (standard input); none = the proxy of the server, if any',
    )
    .option(
      '--client-certificate <file>',
      'use this client certificate (mTLS): PEM, followed by its issuers; none = no certificate',
    )
    .option('--client-key <file>', 'its private key: PEM; default in the same file')
    .option(
      '--token-url <url>',
      'send an access token from this token endpoint (OAuth 2 client credentials); none = no token',
    )
    .option('--client-id <id>', 'with --token-url: the client id')
    .option(
      '--client-secret <secret>',
      'with --token-url: its secret, as @file or - (standard input); default unchanged, if URL and client are',
    )
    .option('--token-scope <names>', 'with --token-url: the requested scopes, separated by spaces')
    .option('--token-audience <audience>', 'with --token-url: the requested audience')
    .option(
      '--token-authentication <how>',
      'with --token-url: send id and secret as basic (in the header, the default) or body',
    );
}

/** The fields for the API. Throws a UsageError that names the option. */
export async function readEgressFields(
  options: EgressOptions,
  secrets: SecretReader,
): Promise<Pick<ChangeWebhookEndpointBody, 'proxy' | 'client_certificate' | 'client_credentials'>> {
  const { proxy, clientCertificate, clientKey } = options;
  return {
    proxy: proxy === undefined ? undefined : proxy === 'none' ? null : await secrets.one('--proxy', proxy),
    client_certificate: readCertificate(clientCertificate, clientKey),
    client_credentials: await readCredentials(options, secrets),
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
      throw new UsageError('--client-id, --client-secret and --token-… need --token-url <url>');
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
    // the server validates the word
    authentication: tokenAuthentication as NonNullable<Credentials>['authentication'],
  };
}

function readCertificate(
  certificate: string | undefined,
  key: string | undefined,
): ChangeWebhookEndpointBody['client_certificate'] {
  if (certificate === undefined || certificate === 'none') {
    if (key !== undefined) throw new UsageError('--client-key needs --client-certificate <file>');
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

/** The lines about it in the description of an endpoint; null = left out. */
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
