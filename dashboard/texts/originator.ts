/** The originator of NACHA files. */
export const originator = {
  title: 'Originator of NACHA files',
  lead: 'The sender of ACH payments in US dollars. Your bank gives you these names and numbers. Without them there are no NACHA files.',
  fields: {
    immediate_destination: 'Routing number of the bank that receives the file',
    immediate_destination_name: 'Name of that bank',
    immediate_origin: 'Immediate origin',
    immediate_origin_name: 'Your name at that bank',
    company_name: 'Company name',
    company_id: 'Company id',
    originating_dfi: 'Routing number you pay from',
    person_entry_description: 'Description of payments to persons',
    entry_description: 'Description of payments to businesses',
    discretionary_data: 'Discretionary data',
  },
  hints: {
    immediate_origin: 'Nine or ten digits, assigned by the bank.',
    company_name: 'At most 16 characters. Affiliates see it on their statements.',
    company_id: 'Ten letters and digits, often 1 and your EIN.',
    originating_dfi: 'Nine digits, or the first eight. Leave it empty to use the bank above.',
    person_entry_description:
      'PAYROLL if you leave it empty: banks in the United States require it for commissions.',
    entry_description:
      'PAYOUT if you leave it empty. At most 10 characters. Affiliates see it on their statements.',
  },
} as const;
