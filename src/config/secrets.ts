import type { Config } from './config.js';

/** Every key, token and password of the configuration, for `createLog` to remove. */
export function secretsOf(config: Config): readonly string[] {
  const { redisUrl, proxies } = config;
  const keys = [
    config.project?.key,
    config.catalogue?.key,
    ...credentialsOf(redisUrl),
    ...credentialsOf(proxies?.httpProxy),
    ...credentialsOf(proxies?.httpsProxy),
  ].filter((key) => typeof key === 'string');
  const tokens = config.auth.mode === 'token' ? config.auth.tokens : [];
  // A scheme such as Basic stands before the secret. What is shorter is found in ordinary words of the log.
  const headers = Object.values(config.tracing?.headers ?? {})
    .flatMap((value) => [value, value.replace(/^\S+ +/, '')])
    .filter((value) => value.length >= 6);
  return [...keys, ...tokens, ...new Set(headers)];
}

/** The password of an address, as it is and as it is sent. */
function credentialsOf(address: string | null | undefined): readonly string[] {
  if (!address) return [];
  const { username, password } = new URL(address);
  if (password === '') return [];
  const [user, plain] = [decodeURIComponent(username), decodeURIComponent(password)];
  return [...new Set([plain, password, Buffer.from(`${user}:${plain}`).toString('base64')])];
}
