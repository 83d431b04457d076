import { Unauthenticated } from '../../errors.js';
import { type Access, bearerToken } from './auth.js';
import type { Tenants } from './tenants.js';

/** AUTH_MODE=passthrough: clients send their own upstream keys; each pair of keys is a tenant. */
export function passthroughAccess(tenants: Tenants): Access {
  return {
    authenticate: ({ authorization, catalogueKey }) => {
      const project = authorization === null ? null : bearerToken(authorization);
      if (project !== null && !project.startsWith('svc_sk_')) {
        throw new Unauthenticated('The bearer token must be a project key, which starts with svc_sk_');
      }
      if (catalogueKey !== null && !/^[\x21-\x7e]+$/.test(catalogueKey)) {
        throw new Unauthenticated('The catalogue key is malformed');
      }
      if (project === null && catalogueKey === null) {
        throw new Unauthenticated('Send `Authorization: Bearer svc_sk_…`, `X-Catalogue-Key: …`, or both');
      }
      return tenants.lease({ project, catalogue: catalogueKey });
    },
    close: () => tenants.close(),
  };
}
