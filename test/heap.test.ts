import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const heap = fileURLToPath(new URL('../src/heap.ts', import.meta.url));

it('sets what this version of V8 knows: an unknown flag is reported and changes nothing', async () => {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', heap]);
  expect(stderr).toBe('');
});
