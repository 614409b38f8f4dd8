import { useQuery } from '@tanstack/react-query';
import type { Import, ImportPreview, PreviewImportQuery } from '../../src/client/api.ts';
import { call } from './api.ts';

export type ImportKind = Import['kind'];
export type Mapping = Import['mapping'];

/** The meanings of words of the file, by field. */
export type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The user's choices for a file; the rest is guessed. A mapping is the name of a saved one, or the columns. */
export interface Choices
  extends Pick<
    PreviewImportQuery,
    | 'sheet'
    | 'header_row'
    | 'encoding'
    | 'separator'
    | 'decimal'
    | 'dates'
    | 'paid'
    | 'status_columns'
    | 'totals'
  > {
  readonly mapping?: string | Mapping;
  readonly values?: Values;
}

const MOST_OF_NAME = 255;
const SECOND_MS = 1000;

/** The parameters that say how a file is read. */
export const queryOf = (
  kind: ImportKind,
  file: File,
  { mapping, values, ...choices }: Choices,
  progressKey?: string,
) => ({
  kind,
  progress_key: progressKey,
  file_name: file.name.slice(0, MOST_OF_NAME),
  ...choices,
  mapping: typeof mapping === 'object' ? JSON.stringify(mapping) : mapping,
  values: values && JSON.stringify(values),
});

/** A preview and its duration. A preview runs the import and rolls it back, so the import takes about as long. */
export interface TimedPreview extends ImportPreview {
  readonly seconds: number;
}

/** The preview of a file, refetched whenever a choice changes; the previous one is shown meanwhile. */
export function useImportPreview(file: File, query: ReturnType<typeof queryOf>) {
  return useQuery<TimedPreview, Error>({
    queryKey: ['previewImport', file.name, file.size, file.lastModified, query],
    queryFn: async ({ signal }) => {
      const begun = performance.now();
      const preview = await call('previewImport', { query, file }, { signal });
      return { ...preview, seconds: Math.ceil((performance.now() - begun) / SECOND_MS) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    placeholderData: (previous) => (previous?.kind === query.kind ? previous : undefined),
  });
}

/** The progress of the request with this key, polled every second. */
export const useImportProgress = (key: string, isEnabled: boolean) =>
  useQuery({
    queryKey: ['getImportProgress', key],
    queryFn: ({ signal }) => call('getImportProgress', { query: { key } }, { signal }),
    enabled: isEnabled,
    refetchInterval: SECOND_MS,
    gcTime: 0,
  });

/** Merges further meanings of words. */
export const withValues = (values: Values, more: Values): Values => ({
  ...values,
  ...Object.fromEntries(
    Object.entries(more).map(([field, words]) => [field, { ...values[field], ...words }]),
  ),
});

/** A mapping with another field, or none, for a column. A column that had this field before loses it. */
export function withField(mapping: Mapping, column: string, field: string | null): Mapping {
  const others = Object.entries(mapping).filter(
    ([name, value]) => name !== column && !(typeof value === 'object' && name === field),
  );
  return Object.fromEntries([
    ...others.map(([name, value]) => [name, value === field ? 'ignore' : value] as const),
    [column, field ?? 'ignore'] as const,
  ]);
}

/** A mapping with a constant value for a field; null removes it. */
export function withConstant(mapping: Mapping, field: string, constant: string | null): Mapping {
  const others = Object.entries(mapping)
    .filter(([name, value]) => !(typeof value === 'object' && name === field))
    .map(([name, value]) => [name, value === field && constant !== null ? 'ignore' : value] as const);
  return Object.fromEntries(constant === null ? others : [...others, [field, { constant }] as const]);
}
