import { PassThrough, type Readable } from 'node:stream';
import { ConnectionError } from './errors.ts';
import {
  openTransport,
  type RequestSpec,
  type Target,
  type Transport,
  type UploadSource,
} from './transport.ts';
import type {
  AffiliateImport,
  ApiKey,
  CommissionImport,
  CompletedPayout,
  ImportOptions,
  List,
  ListQuery,
  NewApiKey,
  NewUser,
  PaidEntry,
  PasswordReset,
  Payout,
  PayoutLine,
  PayoutPreview,
  PayoutSelection,
  PayoutSummary,
  Role,
  User,
} from './types.ts';
import { type WebhookClient, webhookClient } from './webhooks.ts';

/** A file on its way: its name as the server gave it, and its bytes. The stream fails when it is cut off. */
export interface Download {
  readonly name: string | null;
  readonly stream: Readable;
}

/** A typed client of Payhook's API. Every function throws ApiError or ConnectionError. */
export interface Client extends WebhookClient {
  listKeys(query?: ListQuery): Promise<List<ApiKey>>;
  createKey(name: string): Promise<NewApiKey>;
  revokeKey(id: string): Promise<void>;
  listUsers(query?: ListQuery): Promise<List<User>>;
  createUser(user: { email: string; name: string; role: Role }): Promise<NewUser>;
  removeUser(id: string): Promise<void>;
  resetUserPassword(id: string): Promise<PasswordReset>;
  importAffiliates(file: UploadSource, options: ImportOptions): Promise<AffiliateImport>;
  importCommissions(file: UploadSource, options: ImportOptions): Promise<CommissionImport>;
  listPayouts(query?: ListQuery): Promise<List<PayoutSummary>>;
  /** `id` may be `current`. */
  getPayout(id: string): Promise<Payout>;
  listPayoutLines(id: string, query?: ListQuery): Promise<List<PayoutLine>>;
  previewPayout(selection: PayoutSelection): Promise<PayoutPreview>;
  createPayout(selection: PayoutSelection): Promise<Payout>;
  /** Says of every affiliate of the payout whether it was paid; refused unless it is still at `revision`. */
  completePayout(id: string, revision: number, entries: readonly PaidEntry[]): Promise<CompletedPayout>;
  deletePayout(id: string, revision: number): Promise<void>;
  downloadPayout(id: string): Promise<Download>;
  close(): Promise<void>;
}

const PAYOUTS = '/v2/affiliates/payouts';
const PAGE_SIZE = '100';

/** Opens a client of the server at a URL or behind a unix socket. The caller closes it. */
export function createClient(target: Target): Client {
  const transport = openTransport(target);
  const call = <Result>(spec: RequestSpec) => callJson<Result>(transport, spec);
  const payout = (id: string) => `${PAYOUTS}/${encodeURIComponent(id)}`;
  const ifMatch = (revision: number) => ({ 'if-match': `"${revision}"` });
  const upload = <Result>(path: string, file: UploadSource, { dryRun, partial }: ImportOptions) =>
    call<Result>({
      method: 'POST',
      path,
      file,
      query: { dry_run: dryRun ? 'true' : undefined, partial: partial ? 'true' : undefined },
    });
  return {
    listKeys: (query = {}) => call({ method: 'GET', path: '/v2/api-keys', query: { ...query } }),
    createKey: (name) => call({ method: 'POST', path: '/v2/api-keys', json: { name } }),
    revokeKey: (id) => call({ method: 'DELETE', path: `/v2/api-keys/${encodeURIComponent(id)}` }),
    listUsers: (query = {}) => call({ method: 'GET', path: '/v2/users', query: { ...query } }),
    createUser: (user) => call({ method: 'POST', path: '/v2/users', json: user }),
    removeUser: (id) => call({ method: 'DELETE', path: `/v2/users/${encodeURIComponent(id)}` }),
    resetUserPassword: (id) =>
      call({ method: 'POST', path: `/v2/users/${encodeURIComponent(id)}/reset-password` }),
    importAffiliates: (file, options) => upload('/v2/affiliates/import', file, options),
    importCommissions: (file, options) => upload('/v2/affiliates/commissions/import', file, options),
    listPayouts: (query = {}) => call({ method: 'GET', path: PAYOUTS, query: { ...query } }),
    getPayout: (id) => call({ method: 'GET', path: payout(id) }),
    listPayoutLines: (id, query = {}) =>
      call({ method: 'GET', path: `${payout(id)}/affiliates`, query: { ...query } }),
    previewPayout: (selection) => call({ method: 'POST', path: `${PAYOUTS}/preview`, json: selection }),
    createPayout: (selection) => call({ method: 'POST', path: PAYOUTS, json: selection }),
    completePayout: (id, revision, commissions) =>
      call({
        method: 'PUT',
        path: payout(id),
        json: { commissions, require_all: true },
        headers: ifMatch(revision),
      }),
    deletePayout: (id, revision) => call({ method: 'DELETE', path: payout(id), headers: ifMatch(revision) }),
    downloadPayout: (id) => download(transport, `${payout(id)}/download`),
    ...webhookClient(call),
    close: () => transport.close(),
  };
}

/** Every record of a list, page by page. `load` must sort by something that does not change, such as `id`. */
export async function* everyItem<Item>(
  load: (query: ListQuery) => Promise<List<Item>>,
): AsyncGenerator<Item> {
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await load({ page: String(page), per_page: PAGE_SIZE });
    yield* data;
    if (page >= pagination.pages) return;
  }
}

async function callJson<Result>(transport: Transport, spec: RequestSpec): Promise<Result> {
  const { body } = await transport.send(spec);
  try {
    const text = await body.text();
    return (text === '' ? undefined : JSON.parse(text)) as Result;
  } catch (error) {
    throw new ConnectionError(`the answer was cut off or is no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function download(transport: Transport, path: string): Promise<Download> {
  const { header, body } = await transport.send({ method: 'GET', path });
  const name = /filename="([^"/\\]+)"/.exec(header('content-disposition') ?? '')?.[1] ?? null;
  const stream = new PassThrough();
  body.once('error', (error: Error) => {
    stream.destroy(new ConnectionError(`the download was cut off: ${error.message}`, { cause: error }));
  });
  stream.once('close', () => body.destroy());
  return { name, stream: body.pipe(stream) };
}
