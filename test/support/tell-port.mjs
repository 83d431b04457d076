// Loaded before the gateway by a test that cannot read its log: tells on descriptor 3 which port it listens on.
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';

subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => writeSync(3, `${server.address().port}\n`));
