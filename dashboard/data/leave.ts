import { session } from './session.ts';

/** Sends a form to a page of the server: the cookie changes, and with it everything that was read. */
export function leave(
  action: '/sign-out' | '/account/switch',
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
