import { readFileSync } from 'node:fs';
import { satisfies, subset } from 'semver';
import { describe, expect, it } from 'vitest';

// .ci/package.mjs installs the tarball itself, which needs the registry. These read package-lock.json alone.
const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const { engines } = read('package.json');
const packages: Readonly<Record<string, Locked>> = read('package-lock.json').packages;
const runtime = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

describe('what the package needs at run time', () => {
  it('runs on every Node that `engines` names', () => {
    const narrower = runtime
      .map(([path, { engines: own }]) => ({ path, range: own?.node ?? '*' }))
      .filter(({ range }) => !subset(engines.node, range));
    expect(narrower).toEqual([]);
  });

  it('keeps to the ranges of each package, since `overrides` have no effect where it is installed', () => {
    const broken = runtime.flatMap(([path, { dependencies = {} }]) =>
      Object.entries(dependencies)
        .map(([name, range]) => ({ path, name, range, found: resolved(name, path)?.version ?? 'nothing' }))
        .filter(({ found, range }) => !satisfies(found, range)),
    );
    expect(broken).toEqual([]);
  });
});

it.each(['.', 'examples/clients', 'examples/federation'])(
  '`npm ci` in %s installs all that its scripts run, also where NODE_ENV is production',
  (folder) => {
    const { devDependencies = {} } = read(`${folder}/package.json`);
    const settings = readFileSync(new URL(`../${folder}/.npmrc`, import.meta.url), 'utf8').split('\n');
    expect(settings.includes('include=dev')).toBe(Object.keys(devDependencies).length > 0);
  },
);

/** The package that `name` is to the one at `path`, found as Node finds it. */
function resolved(name: string, path: string): Locked | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (found !== undefined || folder === '') return found;
  }
}
