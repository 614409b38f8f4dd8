import { useRead } from '../data/queries.ts';
import { commissions as texts } from '../texts/commissions.ts';
import { IconButton } from './button.tsx';
import { AffiliateLink } from './commissions.tsx';
import { FilterSelect } from './field.tsx';

const NO_PROGRAM = 'none';
const { filters } = texts;

interface OfProgram {
  readonly program_id?: number | undefined;
  readonly has_program?: 'false' | undefined;
}

/** Of a program, or of none. */
export function ProgramChoice({
  search: { program_id, has_program },
  change,
}: {
  search: OfProgram;
  change: (next: OfProgram) => void;
}) {
  const programs = useRead('listPrograms', { query: { per_page: 100 } }).data?.data ?? [];
  if (programs.length === 0 && has_program === undefined) return null;
  return (
    <FilterSelect
      label={filters.program}
      any={filters.anyProgram}
      value={has_program === undefined ? program_id?.toString() : NO_PROGRAM}
      options={[
        { value: NO_PROGRAM, label: filters.noProgram },
        ...programs.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      onChange={(chosen) =>
        change({
          program_id: chosen === undefined || chosen === NO_PROGRAM ? undefined : Number(chosen),
          has_program: chosen === NO_PROGRAM ? 'false' : undefined,
        })
      }
    />
  );
}

/** The affiliate whose rows are shown, and a button that shows those of all. */
export function AffiliateChip({
  search: { affiliate_id },
  change,
}: {
  search: { readonly affiliate_id?: number | undefined };
  change: (next: { readonly affiliate_id: undefined }) => void;
}) {
  if (affiliate_id === undefined) return null;
  return (
    <span className="chip">
      <AffiliateLink id={affiliate_id} />
      <IconButton
        icon="cross"
        label={filters.remove(filters.ofAffiliate)}
        onPress={() => change({ affiliate_id: undefined })}
      />
    </span>
  );
}
