import { gateway, runPage, show } from '../page.js';
import { batteriesOf } from './batteries.js';
import { watchTriggers } from './triggers.js';

let triggers: ReturnType<typeof watchTriggers>;

runPage({
  open() {
    triggers = watchTriggers(gateway, (rows) => show('triggers', rows));
  },
  more: () => triggers.more(),
  refetch: () => triggers.refetch(),
  batteries: async () => show('batteries', await batteriesOf(gateway)),
});
