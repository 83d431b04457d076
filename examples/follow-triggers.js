import { LiveTriggersDocument, subscribeWithResume } from 'seisgraph/client';

const store = {
  get: () => localStorage.getItem('triggers'),
  set: (cursor) => localStorage.setItem('triggers', cursor),
};

/** Shows every change of every trigger once; all tabs of the page share one connection. */
export async function followTriggers(gateway, show, signal) {
  const options = { url: `${gateway}/graphql`, transport: 'sse', store, signal };
  for await (const { data } of subscribeWithResume(LiveTriggersDocument, options)) show(data.triggerChanges);
}
