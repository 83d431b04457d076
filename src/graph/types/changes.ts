import { builder } from '../builder.js';
import './event/changes.js';
import './sensor/health-changes.js';
import './sensor/status-changes.js';
import './trigger/changes.js';

builder.subscriptionType({
  description:
    'Live changes of triggers, earthquakes, sensor status and state of health, over WebSocket (the protocol ' +
    'graphql-transport-ws) or server-sent events. The gateway polls the service once for all ' +
    'subscribers together.',
});
