#!/usr/bin/env node
import type { Gateway } from './app.js';
import { type Config, ConfigError, misspeltSettings, parseConfig, secretsOf } from './config.js';
import { createLog } from './log.js';
import { renderHelp } from './settings-text.js';
import { version } from './version.js';

const argument = process.argv[2];
if (argument === '--help' || argument === '-h') {
  process.stdout.write(renderHelp());
} else if (argument === '--version' || argument === '-v') {
  process.stdout.write(`${version}\n`);
} else if (argument !== undefined) {
  fail(`There is no option ${argument}: see seisgraph --help`);
} else {
  await run();
}

async function run(): Promise<void> {
  const config = configOrFail();
  if (!config) return;
  const log = createLog({ level: config.logLevel, secrets: secretsOf(config) });
  for (const { variable, setting } of misspeltSettings()) {
    log.warn({ variable, setting }, `${variable} sets nothing: is ${setting} meant?`);
  }
  let gateway: Gateway | null = null;
  let isLeaving = false;

  async function leave(code: number): Promise<void> {
    // Asked twice: whoever asks does not want to wait.
    if (isLeaving) process.exit(code);
    isLeaving = true;
    await gateway?.close().catch((error) => log.error({ error: String(error) }, 'Closing failed'));
    process.exit(code);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'Leaving');
      void leave(0);
    });
  }
  // A fault that nobody foresaw: what is in flight is finished, and something else starts the process afresh.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (fault: unknown) => {
      log.error(
        { event, fault: fault instanceof Error ? fault.stack : String(fault) },
        'Uncaught fault: leaving',
      );
      void leave(1);
    });
  }
  try {
    // Only now: everything else here is said without waiting for the whole of it.
    const { startGateway } = await import('./app.js');
    gateway = await startGateway({ config, log });
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
    // Whatever had been started before would go on.
    process.exit();
  }
}

function configOrFail(): Config | null {
  try {
    return parseConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    fail(error.message);
    return null;
  }
}

function fail(line: string): void {
  process.stderr.write(`seisgraph: ${line.replace(/\n.*/s, '')}\n`);
  process.exitCode = 1;
}
