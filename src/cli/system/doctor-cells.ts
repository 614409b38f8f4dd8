import type { Inspection, InstallationInspection } from '../../app/inspection.ts';
import { type Check, check, type Status } from './check.ts';

type Cell = InstallationInspection['cells'][number];

/**
 * The checks of the cells other than 0: a line for each cell, followed by its checks that did not pass, and a line for the directory.
 * None if there is only one cell.
 */
export async function checkCells(
  { cells, doubled, misplaced }: InstallationInspection,
  checkCell: (inspection: Inspection, withServer: boolean) => Promise<Check[]>,
): Promise<Check[]> {
  if (cells.length === 0) return [];
  const checked = await Promise.all(
    cells.map(async (cell) => {
      const name = `cell ${cell.number}`;
      const { inspection, problem } = cell;
      if (problem !== null) return [check(name, 'failed', `${placeOf(cell)}: ${problem}`)];
      const found = inspection === null ? [] : await checkCell(inspection, cell.host !== null);
      return [
        check(name, 'ok', `${placeOf(cell)}, version ${inspection?.schemaVersion}, ${cell.state}`),
        ...found
          .filter(({ status }) => status === 'warning' || status === 'failed')
          .map((each) => ({ ...each, name: `${name}: ${each.name}` })),
      ];
    }),
  );
  const status: Status = doubled.length > 0 ? 'failed' : 'warning';
  const wrong = [...doubled, ...misplaced];
  return [
    ...checked.flat(),
    wrong.length === 0
      ? check('directory', 'ok', 'every account is in the cell that the directory names')
      : check('directory', status, wrong.join('; ')),
  ];
}

const placeOf = ({ schema, host }: Cell) =>
  `${schema === null ? 'the schema of the login' : `schema ${schema}`} on ${host ?? 'the server of cell 0'}`;
