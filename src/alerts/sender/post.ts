import { addressRules } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import { idOf } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import { serverProxy } from '../../webhooks/engine/egress-routes.ts';
import { createSender, type Sender } from '../../webhooks/engine/send.ts';
import { signersOf } from '../../webhooks/signing/schemes.ts';
import { openTarget } from '../channels/target.ts';
import type { Message, Recipient } from './claim.ts';
import { composeSlack, composeWebhook } from './compose.ts';
import type { Unsent } from './mail.ts';

const LIMIT_MS = 15_000;

/** Creates the sender for channels. It connects only where webhooks may. The caller closes it. */
export const createPoster = (config: DeliveryConfig): Sender =>
  createSender({
    addresses: addressRules(config.allowedNetworks),
    timeoutMs: LIMIT_MS,
    connectionsPerOrigin: 2,
    proxies: { ofServer: serverProxy(config) },
  });

/** Posts a message to a channel; `base` is the public address of the dashboard, `nowMs` milliseconds since 1970. */
export async function postMessage(
  poster: Sender,
  { message, channel: { channel, format, target } }: { message: Message; channel: Channel },
  { vault, base, nowMs }: { vault: Vault; base: string; nowMs: number },
): Promise<Unsent> {
  const { url, secret } = openTarget({ account: message.account, vault }, channel, target);
  const body =
    format === 'slack'
      ? composeSlack(message, base)
      : composeWebhook(message, { base, account: idOf('acc', message.account) });
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Payhook/2.0 (alerts)',
  };
  if (secret !== null) {
    const timestamp = Math.floor(nowMs / 1000);
    headers['webhook-id'] = message.id;
    headers['webhook-timestamp'] = String(timestamp);
    for (const signer of signersOf({ signing: null, secret }).signers)
      headers[signer.header] = signer.valueOf({ id: message.id, timestamp, body, url });
  }
  const { errorMessage } = await poster.send({ url, headers, body });
  return errorMessage === null ? null : { error: errorMessage, isFinal: false };
}

type Channel = Extract<Recipient, { channel: unknown }>;
