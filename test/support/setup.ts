import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.js';
import { tapConnections, tapConsole } from './secret-scan.js';

tapConnections();
const onConsole = tapConsole();

afterAll(async () => {
  await cleanUp();
  onConsole.expectNone();
});
