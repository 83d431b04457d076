const query = `subscription ($after: String) {
  triggerChanges(after: $after) { kind replayed cursor trigger { triggerId stationCode startTime pgaHorizontal } } }`;

/** Shows every change of every trigger once: through lost connections, restarts, and a night with the lid closed. */
export function watchTriggers(gateway, show, after = localStorage.getItem('triggers')) {
  const search = new URLSearchParams({ query, variables: JSON.stringify({ after }) });
  const stream = new EventSource(`${gateway}/graphql?${search}`);
  let next;
  const resume = (from, inMs) => {
    stream.close();
    clearTimeout(next);
    next = setTimeout(watchTriggers, inMs, gateway, show, from);
  };
  stream.addEventListener('next', ({ data: text }) => {
    const { data, errors } = JSON.parse(text);
    if (errors) console.warn('No triggers for now:', errors[0].message);
    if (errors) return resume(errors[0].extensions.code.startsWith('CURSOR_') ? null : after, 5000);
    after = data.triggerChanges.cursor;
    localStorage.setItem('triggers', after);
    show(data.triggerChanges);
  });
  stream.addEventListener('error', () => resume(after, 1000));
}
