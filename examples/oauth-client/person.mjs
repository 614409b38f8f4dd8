// Plays the merchant and their browser, so that the example runs without either: opens pages, keeps the cookie, sends
// the forms. A real application never does this: it never sees a merchant's password.

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (text) => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name]);
const attribute = (tag, name) => plain(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** Signs in, leaves everything ticked, allows, and goes where the server sends the browser. */
export async function consentAs(address, { email, password }) {
  let cookie = '';
  const send = async (url, form) => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    const location = response.headers.get('location');
    return { status: response.status, text: await response.text(), next: location && new URL(location, url) };
  };

  const { next: signIn } = await send(address);
  if (signIn?.pathname !== '/sign-in') throw new Error('the authorization request was refused');
  const form = [
    ['next', signIn.searchParams.get('next')],
    ['email', email],
    ['password', password],
  ];
  const { status, next } = await send(new URL('/sign-in', signIn), form);
  if (!next) throw new Error(`signing in failed (${status}): is it the right e-mail address and password?`);

  const consent = await send(next);
  if (consent.next) return void (await fetch(consent.next)); // refused: the answer says why
  const inputs = consent.text.match(/<input[^>]*>/g) ?? [];
  const fields = inputs
    .filter((tag) => ['hidden', 'checkbox'].includes(attribute(tag, 'type')))
    .map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]);
  const action = attribute(
    /<form[^>]*action="[^"]*oauth[^"]*"[^>]*>/.exec(consent.text)?.[0] ?? '',
    'action',
  );
  if (!action) throw new Error(`there is no consent page (${consent.status}): only an owner can allow`);
  const { next: callback } = await send(new URL(action, next), [...fields, ['decision', 'allow']]);
  if (!callback) throw new Error('the consent page was refused');
  await fetch(callback);
}
