#!/usr/bin/env node
import './heap.js';
import type { Gateway } from './app.js';
import { type Config, ConfigError, misspeltSettings, parseConfig, unusedSettings } from './config/config.js';
import { secretsOf } from './config/secrets.js';
import { renderHelp } from './config/settings-text.js';
import { endInOrder } from './ending.js';
import { createLog } from './log.js';
import { surviveWriteErrors } from './log-output.js';
import { version } from './version.js';

surviveWriteErrors();
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
  for (const { variable, because } of unusedSettings(config)) {
    log.warn({ variable }, `${variable} has no effect: ${because}`);
  }
  let gateway: Pick<Gateway, 'close' | 'reload'> | null = null;
  let atEnd = () => {};
  endInOrder({ log, close: async () => gateway?.close(), atEnd: () => atEnd() });
  // Without manifests the signal has its usual meaning, the end of the terminal.
  if (config.persistedOperationsFiles.length > 0) process.on('SIGHUP', () => gateway?.reload());
  try {
    // Imported late, so that --help, --version and configuration errors need not load the whole gateway.
    if (config.workers > 1) {
      const { Primary } = await import('./workers/primary.js');
      const primary = new Primary({ config, log });
      gateway = primary;
      atEnd = () => primary.kill();
      await primary.start();
    } else {
      const { startGateway } = await import('./app.js');
      gateway = await startGateway({ config, log });
    }
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
    atEnd();
    await log.output.flushed();
    // Parts that had already started would keep the process alive.
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
