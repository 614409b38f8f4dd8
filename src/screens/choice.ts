import type { PageInput, PageReply } from '../contract/web-pages.ts';
import { idOf } from '../kernel/ids.ts';
import { openProof, sealProof, signInWithProof } from '../people/users/choice.ts';
import type { SeveralCells } from '../people/users/credentials.ts';
import { accountRow } from './accounts.ts';
import { enter, isFromHere, localPath, refuseForeign, show, visitOf } from './guard.ts';
import { button, card, errorPage, form, hidden, layout } from './html/html.ts';
import { targetsAfter } from './targets.ts';

/** The choice of an account by somebody whose password is right in several cells. */
export async function showChoice(
  { cells, vault }: PageInput,
  result: SeveralCells,
  { email, next }: { email: string; next: string },
): Promise<PageReply> {
  const proof = await sealProof(cells.first.anonymous, vault, email, result);
  const rows = result.shown.flatMap(({ db, accounts }) =>
    accounts.map((each) => {
      const { account, account_name: name } = each;
      const fields = [
        hidden('proof', proof),
        hidden('cell', String(db.cell)),
        hidden('account', idOf('acc', account)),
        hidden('next', next),
        button('Choose', { kind: 'plain', small: true, says: `Choose ${name}` }),
      ];
      return accountRow(each, { change: form('/sign-in/account', fields.join('')) });
    }),
  );
  const body = card({
    title: 'Choose an account',
    lead: 'You have several accounts with this e-mail address and password. You work in one at a time.',
    body: `<ul class="rows">${rows.join('')}</ul>`,
  });
  const page = show(200, layout({ title: 'Choose an account', body }));
  return { ...page, formTargets: await targetsAfter(cells, next) };
}

/**
 * POST /sign-in/account with `proof`, `cell`, `account` (`acc_…`) and `next`: 303 to it with the cookie of a session in that
 * account. With a proof that does not allow it, a page with status 400.
 */
export async function submitChoice(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { cells, form: sent, vault } = input;
  const next = localPath(sent.get('next'));
  const proof = openProof(vault, sent.get('proof') ?? '');
  const cell = sent.get('cell') ?? '';
  const db = proof && /^\d{1,4}$/.test(cell) ? cells.of(Number(cell)) : null;
  const place = db && { first: cells.first, db: db.anonymous };
  const secret =
    proof && place && (await signInWithProof(place, proof, sent.get('account') ?? '', visitOf(input)));
  if (secret) return enter(input, secret, next);
  return errorPage(400, 'this choice is no longer valid: sign in again', {
    href: `/sign-in?${new URLSearchParams({ next })}`,
    label: 'Go to sign-in',
  });
}
