/** The guides in the folder `docs` of the installation, and what each is for. */
export const GUIDES = [
  ['integration.md', 'your first integration: what a shop calls, and when'],
  ['client.md', 'the same in TypeScript, with retries and typed answers'],
  ['assistants.md', 'the API as tools of an assistant: what it may do, and how to restrict it'],
  ['payouts.md', 'the month end in the dashboard, for the person who pays'],
  ['payouts-reference.md', 'the rules of payouts, refunds, approvals and payment files'],
  ['reports.md', 'what was earned, paid and owed in a period'],
  ['webhooks.md', 'operating endpoints, and writing a receiver'],
  ['webhooks-verify.md', 'programs that verify webhooks in five languages'],
  ['webhooks-reference.md', 'all options of an endpoint, and what the errors in the log mean'],
  ['oauth.md', 'the whole authorization flow, for those who write an application'],
  ['imports.md', 'the CSV files of affiliates and commissions, column by column'],
  ['production.md', 'from a folder on a laptop to a service that runs unattended'],
] as const;

/** The guides and the description for assistants, in the format of llmstxt.org, at the address of a server. */
export function llmsText(baseUrl: string): string {
  const guides = GUIDES.map(([file, text]) => `- docs/${file}: ${text}`);
  return `# Payhook

> A self-hosted service for affiliate payouts and webhook delivery. The API is REST with JSON; amounts are integers of minor units.

## Reference
- [API reference](${baseUrl}/docs): every operation, with examples
- [OpenAPI description](${baseUrl}/v2/openapi.json): the same for programs
- [OAuth metadata](${baseUrl}/.well-known/oauth-authorization-server): for applications

## Guides
These are files of the installation:

${guides.join('\n')}

## Tools
\`payhook mcp\` offers the API as tools of the Model Context Protocol. By default they only read.
`;
}
