import { connection } from '../data/connection.ts';
import { Icon } from '../parts/icon.tsx';
import { common } from '../texts/common.ts';

/** A message while the server cannot be reached. */
export function Connection() {
  const isThere = connection.useIsThere();
  return (
    <div className="connection" role="status">
      {!isThere && (
        <p>
          <Icon name="alert" />
          {common.connection.lost}
        </p>
      )}
    </div>
  );
}
