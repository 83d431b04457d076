import type { Sandbox } from '../../src/sandbox/server.js';

/** One request to an interface of the sandbox, with its default key unless the test says otherwise; null sends none. */
export async function ask(
  sandbox: Sandbox,
  source: 'project' | 'catalogue',
  path: string,
  options: { key?: string | null; method?: string; authorization?: string; signal?: AbortSignal } = {},
): Promise<Answer> {
  const base = source === 'project' ? sandbox.projectUrl : sandbox.catalogueUrl;
  const { key = source === 'project' ? sandbox.projectKey : sandbox.catalogueKey, method = 'GET' } = options;
  const authorization = options.authorization ?? (key === null ? undefined : `Bearer ${key}`);
  const response = await fetch(base + path, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    signal: options.signal ?? null,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : null,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body of a foreign interface, which the tests describe.
  readonly body: any;
}
