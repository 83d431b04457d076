import { createHash } from 'node:crypto';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { gateway, runPage, show } from '../page.js';
import { watchBatteries } from './batteries.js';
import { createClient } from './client.js';
import manifest from './generated/manifest.json' with { type: 'json' };
import { watchTriggers } from './triggers.js';

// With `manifest`, the ids are those that PERSISTED_OPERATIONS_FILE knows; otherwise the gateway registers each query
// as it first comes (automatic persisted queries, PERSISTED_OPERATIONS=allow).
const client = createClient(
  gateway,
  process.argv[3] === 'manifest'
    ? generatePersistedQueryIdsFromManifest({ loadManifest: () => manifest })
    : { sha256: (text: string) => createHash('sha256').update(text).digest('hex') },
);
let triggers: ReturnType<typeof watchTriggers>;

runPage({
  open() {
    triggers = watchTriggers(client, (rows) => show('triggers', rows));
  },
  more: () => triggers.more(),
  refetch: () => triggers.refetch(),
  batteries: () => watchBatteries(client, (rows) => show('batteries', rows)),
});
