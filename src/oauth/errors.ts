/** The errors of RFC 6749 sections 4.1.2.1 and 5.2. */
type ErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied';

// RFC 7235 section 4.1 requires it with every 401.
const CHALLENGE = { 'www-authenticate': 'Basic realm="payhook", charset="UTF-8"' };

/** A refusal as defined by RFC 6749. Its description is ASCII without quotes and contains nothing from the request. */
export class OAuthError extends Error {
  readonly error: ErrorName;
  readonly status: 400 | 401;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: ErrorName, description: string) {
    super(description);
    this.name = 'OAuthError';
    this.error = error;
    this.status = error === 'invalid_client' ? 401 : 400;
    this.headers = error === 'invalid_client' ? CHALLENGE : {};
  }
}

/** Builds the error to throw: `throw refuse('invalid_scope', 'the scope …')`. */
export function refuse(error: ErrorName, description: string): OAuthError {
  return new OAuthError(error, description);
}
