import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Throws away at once what nobody holds. */
export const collectGarbage: () => void = runInNewContext('gc');

/** What this process holds after everything that nobody holds has been thrown away. */
export function heapMiB(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1024 ** 2;
}
