/** The options of every list, as typed. */
export interface ListOptions {
  readonly status?: string;
  readonly sort?: string;
  readonly page?: string;
  readonly perPage?: string;
}

/** Options as the query of a list. Values are passed on as typed; the server validates them. */
export function queryOf<Query>({ perPage, ...options }: ListOptions): Query {
  return { ...options, per_page: perPage } as Query;
}
