import { openingOf, type Scope } from '../contract/scopes.ts';
import { html, type PageReply } from '../contract/web-pages.ts';
import { escapeHtml, escapeValue } from '../kernel/html.ts';
import type { Application } from '../people/applications/service.ts';
import {
  actions,
  button,
  card,
  checkboxList,
  errorSummary,
  form,
  hidden,
  layout,
} from '../screens/html/html.ts';
import { targetsOf } from '../screens/targets.ts';

/** What the consent page shows and submits. */
export interface Consent {
  readonly application: Application;
  readonly redirectUri: string;
  /** The user and account being asked, so that a session planted by somebody else is noticed. */
  readonly user: string;
  readonly account: string;
  /** The page for choosing another account of the same person; null if there is none. */
  readonly elsewhere: string | null;
  /** The scopes to tick. */
  readonly scopes: readonly Scope[];
  /** The target of the form. */
  readonly action: string;
  /** Hidden fields. */
  readonly carried: readonly (readonly [name: string, value: string])[];
  /** The problem with the submitted form. */
  readonly problem?: string;
}

/** Asks a merchant what an application may do (RFC 6749 section 4.1.1). */
export function consentPage(consent: Consent): PageReply {
  const { application, redirectUri, scopes, problem } = consent;
  const boxes = scopes.map((scope) => ({
    value: scope,
    label: openingOf(scope)?.may ?? scope,
    hint: openingOf(scope)?.more ?? '',
    checked: problem === undefined,
  }));
  const problems = problem === undefined ? [] : [{ message: problem }];
  const body = card({
    title: `${application.name} wants access to your account`,
    lead: `Registered by ${application.registered_by}. Untick what it should not have.`,
    body:
      errorSummary(problems) +
      form(
        consent.action,
        consent.carried.map(([name, value]) => hidden(name, value)).join('') +
          checkboxList('It may', 'granted', boxes, problems) +
          `<p>You are signed in as <strong>${escapeHtml(consent.user)}</strong> (${escapeHtml(consent.account)})` +
          `${elsewhere(consent)}. ` +
          `You will be sent to <code>${escapeHtml(placeOf(redirectUri))}</code>. ` +
          'What you allow can be revoked at any time.</p>' +
          actions(
            [
              button('Allow', { name: 'decision', value: 'allow' }),
              button('Deny', { kind: 'plain', name: 'decision', value: 'deny' }),
            ],
            { row: true },
          ),
      ),
  });
  const page = html(
    problem === undefined ? 200 : 400,
    layout({ title: `Give ${application.name} access`, body }),
  );
  return { ...page, formTargets: targetsOf(redirectUri) };
}

function elsewhere({ elsewhere: path }: Consent): string {
  return path === null ? '' : `, <a href="${escapeValue(path)}">switch account</a>`;
}

/** The host. For a private-use scheme, the scheme: its authority is not a site. */
function placeOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return /^https?:$/.test(protocol) ? host : protocol;
}
