import { format } from 'node:util';
import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.js';
import { Told, tapConnections } from './told.js';

tapConnections();

// Whatever a gateway, or a package that it uses, says past its log.
const onConsole = new Told([]);
for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
  const say = console[method].bind(console);
  console[method] = (...said: unknown[]) => {
    onConsole.add(format(...said));
    say(...said);
  };
}

afterAll(async () => {
  await cleanUp();
  onConsole.expectNone();
});
