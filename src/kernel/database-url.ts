const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/@]*@)?)([^/?#]*)(.*)$/;

/**
 * The addresses of a database URL, each as a URL of its own: `postgres://user@a:5432,b:5432/name` names two, as libpq
 * has it. Of several the one is used that takes writes, so `target_session_attrs` may be left out. undefined = no URL of
 * PostgreSQL.
 */
export function addressesOf(url: string): readonly string[] | undefined {
  const [, start, hosts, rest] = PARTS.exec(url) ?? [];
  if (start === undefined || hosts === undefined || rest === undefined) return undefined;
  const addresses = hosts.split(',').map((host) => withoutAttributes(start + host + rest));
  return addresses.every((address) => address !== undefined) ? addresses : undefined;
}

function withoutAttributes(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  return url.replace(/([?&])target_session_attrs=read-write(&|$)/, (_, before: string, after: string) =>
    after === '&' ? before : '',
  );
}
