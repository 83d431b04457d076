const query = `subscription ($after: String) {
  triggerChanges(after: $after) { kind cursor trigger { triggerId stationCode startTime pgaHorizontal } } }`;

/** Shows every trigger once: through lost connections, restarts of the gateway, and a night with the lid closed. */
export function watchTriggers(gateway, show, after = localStorage.getItem('triggers')) {
  const search = new URLSearchParams({ query, variables: JSON.stringify({ after }) });
  const stream = new EventSource(`${gateway}/graphql?${search}`);
  const resume = (from, inMs) => {
    stream.close();
    setTimeout(watchTriggers, inMs, gateway, show, from);
  };
  stream.addEventListener('next', ({ data: text }) => {
    const { data, errors } = JSON.parse(text);
    if (errors) return resume(errors[0].extensions.code.startsWith('CURSOR_') ? null : after, 5000);
    after = data.triggerChanges.cursor;
    localStorage.setItem('triggers', after);
    show(data.triggerChanges);
  });
  stream.addEventListener('error', () => resume(after, 1000));
}
