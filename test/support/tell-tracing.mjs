import { createRequire } from 'node:module';

// Says at the end which packages of OpenTelemetry's SDK were loaded.
const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  const loaded = Object.keys(cache).flatMap(
    (file) => /@opentelemetry\/(sdk-trace|exporter)[\w-]*/.exec(file)?.[0] ?? [],
  );
  process.stderr.write(`loaded: ${[...new Set(loaded)].sort()}\n`);
});
