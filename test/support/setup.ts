import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.js';
import { tapConnections, tapConsole } from './told.js';

tapConnections();
const onConsole = tapConsole();

afterAll(async () => {
  await cleanUp();
  onConsole.expectNone();
});
