import { builder } from '../builder.js';
import './event-changes.js';
import './sensor-status-changes.js';
import './trigger-changes.js';

builder.subscriptionType({
  description:
    'Live changes of triggers, earthquakes and sensor status, over WebSocket (the protocol ' +
    'graphql-transport-ws) or server-sent events. The gateway polls the service once for all ' +
    'subscribers together.',
});
