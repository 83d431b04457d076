import { variablesOf } from './setting.js';
import { settings } from './settings.js';

/** The settings as `--help` shows them. */
export function renderHelp(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const { meaning, shownDefault } = setting;
    const shown = shownDefault === '–' ? '' : ` (default: ${shownDefault})`;
    return `  ${variablesOf(name, setting).join(', ')}${shown}\n      ${meaning.replaceAll('`', '')}`;
  });
  return [
    'Usage: seisgraph [--help | --version]',
    '',
    'Serves one GraphQL graph over the two REST interfaces of a seismic-sensor service.',
    'Without any setting it serves http://127.0.0.1:4000/graphql on an embedded sandbox.',
    '',
    'Settings come from the environment. A NAME_FILE variable names a file that holds the value.',
    '',
    ...rows,
    '',
  ].join('\n');
}

/** The settings as docs/operations.md shows them. */
export function renderMarkdownTable(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const { meaning, shownDefault } = setting;
    const shown = shownDefault === '–' ? shownDefault : `\`${shownDefault}\``;
    const variables = variablesOf(name, setting).map((variable) => `\`${variable}\``);
    return `| ${variables.join(' or ')} | ${shown} | ${meaning} |`;
  });
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
