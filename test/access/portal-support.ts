import { expect } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { apiOf } from '../support/api.ts';

/** The parts of a portal's address: the URL, the id of its link, and the secret that opens it. */
export function partsOf(url: string): { readonly id: string; readonly secret: string } {
  const { searchParams, hash } = new URL(url);
  return { id: searchParams.get('link') ?? '', secret: hash.slice(1) };
}

/** Creates a link at an endpoint; returns its record with the address. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape
export async function makeLink(api: Api, endpoint: string, fields?: object): Promise<any> {
  const made: Answer = await api.post(`/v2/webhook-endpoints/${endpoint}/portal-link`, fields);
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** Opens the portal of a link as its page does; returns the status and the response. */
export async function openLink(
  url: string,
  { id, secret }: { id: string; secret: string },
  // biome-ignore lint/suspicious/noExplicitAny: as above
): Promise<{ status: number; body: any }> {
  const form = new URLSearchParams({ link: id, secret });
  const response = await fetch(`${url}/portal`, { method: 'POST', body: form });
  return { status: response.status, body: await response.json() };
}

/** A client with the token of a portal opened by a new link. */
export async function portalAt(api: Api, endpoint: string, fields?: object): Promise<Api> {
  const { url } = await makeLink(api, endpoint, fields);
  const opened = await openLink(api.url, partsOf(url));
  expect(opened.status).toBe(200);
  return apiOf(api.url, opened.body.token);
}
