// Prints the account, what it owes, and its affiliates. In a checkout of Payhook, after `npm ci`:
//
//     PAYHOOK_API_KEY=$(cat data/first-api-key) npx tsx examples/typescript/first-call.ts
import { ApiError, ConnectionError, createClient } from 'payhook-client';

const { PAYHOOK_URL: url = 'http://127.0.0.1:8080', PAYHOOK_API_KEY: apiKey = '' } = process.env;
const payhook = createClient({ url, apiKey });
try {
  const account = await payhook.account.get();
  console.log(`${account.name} pays in ${account.default_currency}`);
  for (const total of (await payhook.payouts.preview()).totals) {
    // amounts are minor units: 3190 is 31.90 USD
    console.log(`owed now: ${total.amount} ${total.currency} to ${total.affiliate_count} affiliates`);
  }
  for await (const affiliate of payhook.affiliates.list({ status: 'active' })) {
    console.log(affiliate.id, affiliate.email);
  }
} catch (error) {
  process.exitCode = 1;
  if (error instanceof ApiError) console.error(`refused (${error.reason}): ${error.message}`);
  else if (error instanceof ConnectionError) console.error(error.message);
  else throw error;
} finally {
  await payhook.close();
}
