import sql, { raw, type Sql } from 'sql-template-tag';

/** The versions of the API in which endpoints get events. An event is stored in the newest one. */
export interface ApiVersions {
  /** The oldest first. */
  readonly names: readonly string[];
  /**
   * How events of a version become those of the one before it: by the name of the newer version, then by type. Each is SQL
   * over `data` (jsonb) that returns the `data` of before. Types that are not named did not change.
   */
  readonly downgrades: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The version of new events, and of endpoints that name none. */
export const CURRENT_VERSION = '2.0.0' as const;

/** A breaking change of an event adds a version here, and the downgrade to the one before. */
export const API_VERSIONS: ApiVersions = { names: [CURRENT_VERSION], downgrades: {} };

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * SQL that creates `payload_at(version, payload)`: the payload of an event as an endpoint of that version gets it. One that is
 * not newer, or whose version is unknown, stays as it is. Numbers keep every digit.
 */
export function payloadAt({ names, downgrades }: ApiVersions): string {
  const steps = names.flatMap((name, index) => {
    const cases = Object.entries(downgrades[name] ?? {}).map(
      ([type, change]) =>
        `when ${quoted(type)} then kept := (select ${change} from (select kept::jsonb as data) d);`,
    );
    const newer = index + 1;
    return cases.length === 0
      ? []
      : [
          `if wanted < ${newer} and stored >= ${newer} then
      case envelope ->> 'type' ${cases.join(' ')} else null; end case;
    end if;`,
        ];
  });
  return `create or replace function payload_at(version text, payload text) returns text language plpgsql immutable strict as $$
  declare
    names text[] := array[${names.map(quoted).join(', ')}];
    -- nothing in front of the data can contain this
    place int := strpos(payload, ',"data":');
    head text := left(payload, place - 1);
    envelope json := split_part(head, ',"changes":', 1) || '}';
    kept text := substr(payload, place + 8, length(payload) - place - 8);
    stored int := array_position(names, envelope ->> 'api_version');
    wanted int := array_position(names, version);
  begin
    if wanted is null or stored is null or wanted >= stored then return payload; end if;
    ${steps.toReversed().join('\n    ')}
    head := overlay(head placing version
      from strpos(head, '"api_version":"') + 15 for length(envelope ->> 'api_version'));
    return concat(head, ',"data":', kept, '}');
  end $$;
`;
}

/** SQL: whether the endpoint in row `e` gets another body than the payload. */
export const isRendered = (e: Sql): Sql =>
  sql`(${e}.payload_form is not null or ${e}.api_version <> ${raw(quoted(CURRENT_VERSION))})`;

/** SQL: the payload in the version and form of the endpoint in row `e`. */
export const renderedFor = (e: Sql, payload: Sql): Sql =>
  sql`case when ${e}.payload_form is null then payload_at(${e}.api_version, ${payload})
    else payload_as(${e}.payload_form, payload_at(${e}.api_version, ${payload})) end`;
