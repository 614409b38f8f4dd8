import { session } from './session.ts';

/** Submits a form to a page of the server, which changes the session cookie. Cached data is lost with this page. */
export function leave(
  action: '/sign-out' | '/account/switch' | '/account/password' | '/account/demo' | '/account/demo/delete',
  fields: Readonly<Record<string, string>> = {},
) {
  const form = Object.assign(document.createElement('form'), { method: 'post', action });
  form.append(
    ...Object.entries({ ...fields, csrf: session.token() }).map(([name, value]) =>
      Object.assign(document.createElement('input'), { type: 'hidden', name, value }),
    ),
  );
  document.body.append(form);
  form.submit();
}
