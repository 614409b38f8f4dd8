/** What the screens are called, everywhere. */
export const navigation = {
  home: 'Home',
  payouts: 'Payouts',
  affiliates: 'Affiliates',
  commissions: 'Commissions',
  reports: 'Reports',
  import: 'Import',
  webhooks: 'Webhooks',
  events: 'Events',
  settings: 'Settings',
};
