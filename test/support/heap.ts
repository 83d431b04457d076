import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** What this process holds after everything that nobody holds has been thrown away. */
export function heapMiB(): number {
  collect();
  return process.memoryUsage().heapUsed / 1024 ** 2;
}
