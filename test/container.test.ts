import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../src/config/config.js';
import { ConfigError } from '../src/config/environment.js';
import { settings } from '../src/config/settings.js';

// What the image does when it runs is tried by .ci/image.mjs, and what the package does by .ci/package.mjs: both install
// from the registry, which these tests must not need.
const root = fileURLToPath(new URL('../', import.meta.url));
const text = (name: string) => readFileSync(join(root, name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'seisgraph-compose-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('has a Dockerfile without a fault, that ends as a user without rights', () => {
  const dockerfile = text('Dockerfile');
  expect(validate(dockerfile)).toEqual([]);
  const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
  // One set of Node's options, chosen by measurement (docs/performance.md), wherever the gateway is started.
  const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(last)?.[1] ?? '');
  expect(JSON.parse(text('package.json')).scripts.start).toBe(`exec ${entrypoint.join(' ')}`);
  expect(entrypoint).toEqual(['node', '--max-semi-space-size=4', 'dist/main.js']);
  expect(dockerfile).not.toMatch(/svc_sk_|_KEY=|TOKENS?=[^…\s]/);
});

it('needs an access mode as the image sets it up', () => {
  const env = Object.fromEntries(
    [...text('Dockerfile').matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(env.HOST).toBe('0.0.0.0');
  expect(() => parseConfig(env)).toThrow(ConfigError);
  expect(parseConfig({ ...env, AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-image' }).host).toBe(
    '0.0.0.0',
  );
});

it('lets nothing into the image by accident', () => {
  const [first, ...allowed] = text('.dockerignore').trim().split('\n');
  expect(first).toBe('*');
  expect(allowed.every((line) => line.startsWith('!'))).toBe(true);
});

it('has a compose file whose settings exist, and whose keys are files', () => {
  const { services, secrets } = parse(text('compose.yaml'));
  const { gateway } = services;
  for (const name of Object.keys(gateway.environment)) {
    expect(settings).toHaveProperty(name.replace(/_FILE$/, ''));
  }
  expect(gateway.read_only).toBe(true);
  expect(Object.keys(secrets).sort()).toEqual([...gateway.secrets].sort());
  const contents: Record<string, string> = { project_api_key: 'svc_sk_x' };
  const env: Record<string, string> = Object.fromEntries(
    Object.entries<string>(gateway.environment).map(([name, value]) => {
      if (value.startsWith('${')) return [name, 'https://upstream.example'];
      if (!name.endsWith('_FILE')) return [name, value];
      const secret = value.replace('/run/secrets/', '');
      expect(gateway.secrets).toContain(secret);
      writeFileSync(join(folder, secret), contents[secret] ?? 'secret-of-the-composition');
      return [name, join(folder, secret)];
    }),
  );
  const config = parseConfig({ ...env, HOST: '0.0.0.0' });
  expect(config.auth.mode).toBe('token');
  expect(services).toHaveProperty(new URL(config.redisUrl ?? '').hostname);
});

it('has a Redis in the compose file that nothing but the gateway can reach, and that nothing can fill', () => {
  const { services, networks } = parse(text('compose.yaml'));
  const { redis, gateway } = services;
  expect(redis.ports).toBeUndefined();
  expect(redis.networks).toEqual(['shared']);
  expect(networks.shared.internal).toBe(true);
  expect(gateway.networks).toContain('shared');
  expect(redis.command).toMatch(/--maxmemory \d+mb --maxmemory-policy volatile-lru/);
  expect([redis.read_only, redis.cap_drop, redis.user]).toEqual([true, ['ALL'], 'redis']);
});

it('packs nothing but what runs and what explains it', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const paths: string[] = JSON.parse(packed)[0].files.map(({ path }: { path: string }) => path);
  const others = paths.filter((path) => !path.startsWith('dist/') && !path.startsWith('schema/operations/'));
  expect(others.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'package.json',
    'schema/persisted-operations.json',
    'schema/schema.graphql',
  ]);
  expect(paths.filter((path) => /\.(test|mts)\b|\.env|(^|\/)secrets\//.test(path))).toEqual([]);
});
