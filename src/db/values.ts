import pg from 'pg';

const { builtins } = pg.types;

function parseTimestamp(text: string): string {
  // '2026-11-21 01:34:00.12+00' (TimeZone is UTC, columns are timestamptz(3)) -> '2026-11-21T01:34:00.120Z'
  if (text === 'infinity' || text === '-infinity') return text;
  const [day, clock = ''] = text.split(' ');
  const [seconds = '', fraction = ''] = clock.replace(/[+-]\d\d.*$/, '').split('.');
  return `${day}T${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

const PARSERS: Record<number, (text: string) => unknown> = {
  [builtins.INT8]: BigInt,
  [builtins.NUMERIC]: (text) => (text.includes('.') ? text : BigInt(text)),
  [builtins.TIMESTAMPTZ]: parseTimestamp,
  [builtins.JSON]: String,
  [builtins.JSONB]: String,
};

/** Values as `Reader.rows` returns them. */
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS[oid]) || pg.types.getTypeParser(oid as never, format as never),
} as pg.CustomTypesConfig;
