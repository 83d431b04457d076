import { request } from 'undici';

/** What a server answers to this request body, over a connection of its own. */
export async function answerOf({ url }: { readonly url: string }, body: string): Promise<string> {
  const { body: answer } = await request(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body,
    reset: true,
  });
  return answer.text();
}
