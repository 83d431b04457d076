// Loaded before the gateway by a test: as if `schema/operations` were missing.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { readdirSync } = fs;
fs.readdirSync = (path, options) => {
  if (!String(path).includes('operations')) return readdirSync(path, options);
  throw new Error(`ENOENT: no such file or directory, scandir '${path}'\nand more of it`);
};
syncBuiltinESMExports();
