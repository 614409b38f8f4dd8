/** The token of a pull endpoint. */
export const endpointToken = {
  title: 'Token for consumers',
  lead: 'Consumers claim and acknowledge the events of this endpoint with a token. It opens nothing else.',
  create: 'Create a token',
  replacing:
    'Consumers can use the current token, if there is one, for this long. Give them the new one within that time.',
  replacingNow:
    'The current token, if there is one, stops working at once: consumers claim nothing until they have the new one.',
  made: 'The new token',
  keep: 'Give it to your consumers now. It is not shown again.',
  label: 'Token',
};
