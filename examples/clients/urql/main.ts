import { gateway, runPage, show } from '../page.js';
import { batteriesOf } from './batteries.js';
import { createClient } from './client.js';
import { watchTriggers } from './triggers.js';

const client = createClient(gateway);
let triggers: ReturnType<typeof watchTriggers>;

runPage({
  open() {
    triggers = watchTriggers(client, (rows) => show('triggers', rows));
  },
  more: () => triggers.more(),
  refetch: () => triggers.refetch(),
  batteries: async () => show('batteries', await batteriesOf(client)),
});
