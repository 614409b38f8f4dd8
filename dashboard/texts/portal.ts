const again = 'Go back to the page where you found it, and open it again there.';

export const portal = {
  title: 'Webhooks',
  closed: {
    ended: {
      title: 'This view has ended',
      lead: `It stays open for an hour, or until its link is revoked. ${again}`,
    },
    used: { title: 'This link was opened before', lead: `It opens only once. ${again}` },
    expired: { title: 'This link is too old', lead: `It was not opened in time. ${again}` },
    revoked: { title: 'This link was revoked', lead: again },
    unknown: { title: 'This link is not complete', lead: again },
    unreachable: { title: 'The server cannot be reached', lead: again },
  },
};
