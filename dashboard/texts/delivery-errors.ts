/** What to do about the error code of an attempt. */
export const deliveryErrors: Readonly<Record<string, string>> = {
  response_error:
    'The endpoint answered with a status that is not 2xx. Look at its answer below and at its own log.',
  redirect:
    'It answered with a redirect, which is not followed. Set the URL of the endpoint to the address it leads to.',
  timeout: 'The endpoint did not answer in time. It should answer first and do its work afterwards.',
  body_too_slow: 'It answered with a failure and did not finish in time.',
  dns_error: 'The host name could not be resolved. Check the URL, and the DNS of the server.',
  connection_refused: 'Nothing listens at that address and port. Is the receiver running?',
  connection_reset: 'The connection was cut midway, perhaps by a proxy or because the receiver crashed.',
  network_error: 'The request could not get through the network. Check routes and firewalls.',
  tls_error: 'The certificate is not valid for this host. Check its dates, its name and its chain.',
  certificate_refused:
    'The endpoint asks for a client certificate, or refused the one it got; the message says why. Set it in the settings, and let the receiver trust its authority.',
  address_blocked: 'The address is private. The operator can allow it with DELIVERY_ALLOW_CIDRS.',
  proxy_unreachable:
    'The proxy does not answer. Check its URL. The endpoint is not to blame, so this does not disable it.',
  proxy_unauthorized: 'The proxy rejected the user and password. Set its URL again with the right ones.',
  proxy_refused:
    'The proxy refused to connect to the receiver. Its own log has the cause: its rules, or the receiver is down.',
  proxy_timeout: 'The proxy took too long to connect: it is overloaded, or the receiver does not answer it.',
  token_unreachable:
    'The token endpoint could not be reached, so nothing was sent. Check its URL in the settings, and that it is public.',
  token_refused:
    'The token endpoint gave no token; the message says why. Set the client credentials again, or their scope.',
  token_invalid: 'The token endpoint did not answer with an access token of type Bearer.',
  token_timeout: 'The token endpoint took too long to answer, so nothing was sent.',
  lost: 'The server stopped or stalled before it recorded an answer. The event may have arrived.',
  endpoint_deleted: 'The endpoint was deleted before the event was delivered.',
  discarded: 'The event was discarded before it was delivered.',
  expired: 'The event became older than the endpoint allows before it was delivered.',
  endpoint_disabled: 'The endpoint was disabled for longer than the log is kept.',
  lease_expired:
    'The consumer claimed the event and did not acknowledge it in time. Is it running? A longer lease gives it more time.',
  consumer_failed: 'The consumer reported that it could not process the event.',
  consumer_cancelled: 'The consumer gave up the event.',
  not_claimed: 'No consumer claimed the event while the log was kept.',
};
