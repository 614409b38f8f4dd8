import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// npm run screenshots: not a test, but it needs what the tests need
export default defineConfig({ ...base, test: { ...base.test, include: ['test/screenshots/shots.ts'] } });
