#!/usr/bin/env node
import { openPlatform, serve } from '../app.ts';
import { readConfig } from '../kernel/config.ts';

const config = readConfig();
const platform = await openPlatform(config, { purpose: 'serve' });
const server = await serve(platform, { listen: { host: config.host, port: config.port } });
process.stdout.write(
  `Payhook is running at ${server.address}\n${platform.firstKey ? `API key: ${platform.firstKey.secret}\n` : ''}`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server.close();
    await platform.close();
    process.exit(0);
  });
}
